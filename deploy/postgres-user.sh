#!/bin/sh
# Run by the image of PostgreSQL when its volume is new: the service has a user and a database of its own, and is no superuser.
set -eu
psql --username postgres --set ON_ERROR_STOP=1 --set password="$(cat /run/secrets/postgres_password)" <<'SQL'
create role coverstream login password :'password';
create database coverstream owner coverstream;
SQL
