import { TokenError } from './token-error.ts'

/** A client's credentials as sent, not yet proven. */
export type ClientCredentials = { readonly client_id: string; readonly client_secret: string }

const invalidClient = (description: string) => new TokenError('invalid_client', description)

/** Undoes the form encoding of one part of Basic credentials (RFC 6749, section 2.3.1); throws a URIError for what has none. */
const decoded = (part: string): string => decodeURIComponent(part.replaceAll('+', ' '))

const basicCredentials = (authorization: string): ClientCredentials => {
  const malformed = invalidClient(
    'The Authorization header is not HTTP Basic: base64 of client_id, a colon and client_secret, each percent-encoded.',
  )
  const encoded = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(authorization)?.[1]
  if (encoded === undefined) throw malformed
  const [, id, secret] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString('utf8')) ?? []
  if (!id || !secret) throw malformed
  try {
    return { client_id: decoded(id), client_secret: decoded(secret) }
  } catch {
    throw malformed
  }
}

const onlyOne = (form: URLSearchParams, name: string): string | undefined => {
  const [value, ...more] = form.getAll(name)
  if (more.length > 0) throw new TokenError('invalid_request', `Send ${name} once only.`)
  // A parameter without a value counts as one that was not sent (RFC 6749, section 3.1).
  return value === '' ? undefined : value
}

/** The client's credentials, from HTTP Basic or from the form, but not from both. */
export const clientCredentialsOf = (authorization: string | undefined, form: URLSearchParams): ClientCredentials => {
  const client_id = onlyOne(form, 'client_id')
  const client_secret = onlyOne(form, 'client_secret')

  if (authorization !== undefined) {
    if (client_secret !== undefined)
      throw new TokenError(
        'invalid_request',
        'Send the client credentials once: either in the form or as HTTP Basic, not both.',
      )
    const basic = basicCredentials(authorization)
    if (client_id !== undefined && client_id !== basic.client_id)
      throw new TokenError('invalid_request', 'The client_id of the form is another than that of HTTP Basic.')
    return basic
  }
  if (client_id === undefined || client_secret === undefined)
    throw invalidClient(
      'No client authentication: send client_id and client_secret in a form body (Content-Type application/x-www-form-urlencoded; not in the URL), or as HTTP Basic.',
    )
  return { client_id, client_secret }
}
