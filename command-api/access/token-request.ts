import { Scope } from '#domain/access/events.ts'
import type { ApiApplication } from '#domain/access/record.ts'
import { TokenError } from './token-error.ts'

/** The requested scopes that a proven client may have: the grant type is looked at first, then the resource, the scope. */
export const grantedScopes = (
  form: URLSearchParams,
  application: ApiApplication,
  resource: string,
): ReadonlySet<Scope> => {
  refuseRepeated(form)
  checkGrantType(form.get('grant_type'))
  checkResource(form.getAll('resource'), resource)
  return scopesOf(form.get('scope'), application)
}

/** `resource` may be sent several times (RFC 8707), though not here: that is for its own check to say. */
const refuseRepeated = (form: URLSearchParams): void => {
  const names = [...new Set(form.keys())]
  const repeated = names.filter((name) => name !== 'resource' && form.getAll(name).length > 1)
  if (repeated.length > 0) throw new TokenError('invalid_request', `Send ${repeated.join(' and ')} once only.`)
}

const checkGrantType = (grantType: string | null): void => {
  if (!grantType) throw new TokenError('invalid_request', 'Send grant_type=client_credentials.')
  if (grantType !== 'client_credentials')
    throw new TokenError('unsupported_grant_type', 'The only grant_type is client_credentials.')
}

const checkResource = (sent: readonly string[], resource: string): void => {
  if (sent.length !== 1 || sent[0] !== resource)
    throw new TokenError('invalid_target', `Send resource=${resource}, exactly so and once.`)
}

/** Names with one space between them (RFC 6749, section 3.3). */
const wellFormed = /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/

/** The scopes in the order in which they were asked for, each once. */
const scopesOf = (sent: string | null, application: ApiApplication): ReadonlySet<Scope> => {
  const held = application.scopes.join(' ')
  if (!sent) throw new TokenError('invalid_scope', `Send scope: one or more of ${held}, separated by a space.`)
  if (!wellFormed.test(sent))
    throw new TokenError('invalid_scope', 'Separate the names in scope by one space, with nothing before or after.')
  return new Set(sent.split(' ').map((name) => heldScope(name, application)))
}

const heldScope = (name: string, { kind, scopes }: ApiApplication): Scope => {
  const scope = Scope.options.find((each) => each === name)
  if (!scope)
    throw new TokenError('invalid_scope', `There is no scope ${name}. The scopes are ${Scope.options.join(', ')}.`)
  if (scopes.includes(scope)) return scope
  if (kind === 'browser' && (scope === 'crm' || scope === 'outcomes'))
    throw new TokenError('invalid_scope', `A browser application cannot have the scope ${scope}.`)
  throw new TokenError('invalid_scope', `The application does not hold ${scope}. It holds ${scopes.join(', ')}.`)
}
