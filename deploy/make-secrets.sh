#!/bin/sh
# Makes the secrets of docker-compose.yml in ./secrets, once. Keep a copy elsewhere: what was sealed with another master key
# cannot be opened. The folder lets nobody else in; the files in it can be read by the users of the containers.
set -eu
umask 022
mkdir secrets
chmod 700 secrets
cd secrets
openssl rand -base64 32 > master_key
: > master_keys_earlier
openssl rand -base64 32 > audit_key
: > audit_keys_earlier
openssl rand -hex 24 > operator_key
openssl rand -hex 24 > postgres_superuser_password
password=$(openssl rand -hex 24)
printf '%s\n' "$password" > postgres_password
printf 'postgres://coverstream:%s@postgres:5432/coverstream\n' "$password" > database_url
