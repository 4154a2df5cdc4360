/** Why an address of another party may not be called: personal data goes there. */
export const notEncrypted =
  'must begin with https:// (http:// only with DELIVERY_ALLOW_HTTP=true, for hosts in DELIVERY_ALLOWED_HOSTS)'
