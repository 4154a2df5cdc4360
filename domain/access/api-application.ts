import type { Decider } from '../decider.ts'
import { originOf } from '../origin.ts'
import { Rejection } from '../rejection.ts'
import type { ApiApplicationId, OrganisationId } from '../values.ts'
import { apiApplicationEvents, Scope, type ApiApplicationEvent } from './events.ts'
import { foldApiApplication, kindOf, type ApiApplication } from './record.ts'

type Grant = {
  readonly scopes: readonly Scope[]
  /** Web origins that may use it; none for a server-only application. */
  readonly allowed_origins: readonly string[]
}

export type ApiApplicationCommand =
  | ({
      type: 'CreateApiApplication'
      organisation_id: OrganisationId
      api_application_id: ApiApplicationId
      name: string
      secret_hash: string
    } & Grant)
  /** A field that is left out stays. */
  | {
      type: 'ChangeApiApplication'
      name?: string | undefined
      scopes?: Grant['scopes'] | undefined
      allowed_origins?: Grant['allowed_origins'] | undefined
    }
  | {
      type: 'RotateApiApplicationSecret'
      secret_hash: string
      /** The instant, in real time, at which the former secret ends; null: at once. */
      former_ends_at: string | null
    }
  | { type: 'DeleteApiApplication' }

type Command<Type> = Extract<ApiApplicationCommand, { type: Type }>
type Decision = readonly ApiApplicationEvent[]

const decide = (command: ApiApplicationCommand, application?: ApiApplication): Decision => {
  if (command.type === 'CreateApiApplication') return create(command, application)
  if (!application) throw new Rejection('not_found', 'There is no API application with this id. Create it first.')

  const { id: api_application_id, deleted } = application
  if (command.type === 'DeleteApiApplication')
    return deleted ? [] : [{ type: 'ApiApplicationDeleted', api_application_id }]
  if (deleted) throw new Rejection('not_found', 'This API application was deleted. Create another one.')

  switch (command.type) {
    case 'ChangeApiApplication':
      return change(command, application)
    case 'RotateApiApplicationSecret': {
      const { secret_hash, former_ends_at } = command
      if (secret_hash === application.secret_hash) return []
      return [{ type: 'ApiApplicationSecretRotated', api_application_id, secret_hash, former_ends_at }]
    }
  }
}

const create = (command: Command<'CreateApiApplication'>, existing?: ApiApplication): Decision => {
  const { organisation_id, api_application_id, name, secret_hash } = command
  const granted = grantOf(command)
  if (existing && existing.organisation_id !== organisation_id) throw taken()
  if (!existing || existing.deleted)
    return [{ type: 'ApiApplicationCreated', organisation_id, api_application_id, name, ...granted, secret_hash }]
  if (existing.name === name && existing.secret_hash === secret_hash && isSame(existing, granted)) return []
  throw taken()
}

const taken = () =>
  new Rejection('conflict', 'An API application with this id exists already. Change that one, or choose another id.')

const change = (command: Command<'ChangeApiApplication'>, application: ApiApplication): Decision => {
  const newName = command.name ?? application.name
  const granted = grantOf({
    scopes: command.scopes ?? application.scopes,
    allowed_origins: command.allowed_origins ?? application.allowed_origins,
  })
  // A browser application's secret counts as public: it must never become the key of a server, by one edit.
  if (kindOf(granted.allowed_origins) !== application.kind)
    throw refused(
      'allowed_origins',
      `cannot change what kind of application this is (${application.kind}); create another`,
    )
  if (newName === application.name && isSame(application, granted)) return []
  return [{ type: 'ApiApplicationChanged', api_application_id: application.id, name: newName, ...granted }]
}

const isSame = (one: Grant, other: Grant): boolean =>
  one.scopes.join(' ') === other.scopes.join(' ') && one.allowed_origins.join(' ') === other.allowed_origins.join(' ')

const browserScopes: readonly Scope[] = ['read', 'write']

/** Scopes and origins in one form, each once, so that the same wish is the same grant; refused where they cannot be. */
const grantOf = ({ scopes, allowed_origins }: Grant): { scopes: Scope[]; allowed_origins: string[] } => {
  const origins = allowed_origins.map(usableOrigin)
  const forbidden = scopes.filter((scope) => !browserScopes.includes(scope))
  if (kindOf(origins) === 'browser' && forbidden.length > 0)
    throw refused('scopes', `a browser application can hold only read and write, not ${forbidden.join(' or ')}`)
  if (scopes.length === 0) throw refused('scopes', 'needs at least one scope')

  return {
    scopes: Scope.options.filter((scope) => scopes.includes(scope)),
    allowed_origins: [...new Set(origins)].toSorted(),
  }
}

const refused = (field: string, reason: string) =>
  new Rejection('validation_failed', `Correct ${field}: ${reason}.`, { [field]: reason })

const local = /^(localhost|127\.0\.0\.1|\[::1\])$/

const usableOrigin = (text: string, index: number): string => {
  const field = `allowed_origins[${index}]`
  const origin = originOf(text)
  if (origin === undefined)
    throw refused(field, 'must be an exact origin such as https://www.example.com: scheme, host and port, no path')
  const { protocol, hostname } = new URL(origin)
  if (protocol === 'http:' && !local.test(hostname)) throw refused(field, 'must be https, unless the host is localhost')
  return origin
}

export const apiApplication: Decider<ApiApplicationCommand, typeof apiApplicationEvents, ApiApplication | undefined> = {
  category: 'api_application',
  events: apiApplicationEvents,
  initialState: undefined,
  decide,
  evolve: foldApiApplication,
}
