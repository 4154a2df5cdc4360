import type { Decider } from '../decider.ts'
import { Rejection } from '../rejection.ts'
import type { OrganisationId } from '../values.ts'
import { endpointConnectionEvents, type EndpointConnectionEvent, type EndpointConnectionId } from './events.ts'
import { evolveEndpointConnection, type EndpointConnection } from './record.ts'
import { notEncrypted } from '../web-address.ts'

type Address = {
  readonly base_url: string
  /** True where the operator's configuration permits plain http to this host. */
  readonly http_allowed: boolean
}

export type EndpointConnectionCommand =
  | ({
      readonly type: 'CreateEndpointConnection'
      readonly endpoint_connection_id: EndpointConnectionId
      readonly organisation_id: OrganisationId
      readonly name: string
      readonly sealed_secret: string | null
    } & Address)
  | ({ readonly type: 'MoveEndpointConnection' } & Address)
  | {
      readonly type: 'RegenerateEndpointSecret'
      readonly sealed_secret: string
      /** The end, in real time, of signing with the present secret; null: the new one signs at once. */
      readonly former_signs_until: string | null
    }
  | { readonly type: 'RemoveEndpointConnection' }

type Command<Type> = Extract<EndpointConnectionCommand, { type: Type }>
type Decision = readonly EndpointConnectionEvent[]

/** The record, and what it does not show. */
export type EndpointConnectionState =
  { readonly record: EndpointConnection; readonly sealed_secret: string } | undefined

const decide = (command: EndpointConnectionCommand, connection: EndpointConnectionState): Decision => {
  if (command.type === 'CreateEndpointConnection') return create(command, connection)
  if (!connection) {
    if (command.type === 'RemoveEndpointConnection') return []
    throw new Rejection('not_found', 'There is no endpoint connection with this id. Check the address.')
  }

  switch (command.type) {
    case 'MoveEndpointConnection':
      checkAddress(command)
      return command.base_url === connection.record.base_url
        ? []
        : [{ type: 'EndpointConnectionMoved', base_url: command.base_url }]
    case 'RegenerateEndpointSecret': {
      const { sealed_secret, former_signs_until } = command
      return [{ type: 'EndpointSecretRegenerated', sealed_secret, former_signs_until }]
    }
    case 'RemoveEndpointConnection':
      return [{ type: 'EndpointConnectionRemoved', name: connection.record.name }]
  }
}

const create = (command: Command<'CreateEndpointConnection'>, existing: EndpointConnectionState): Decision => {
  const { endpoint_connection_id, organisation_id, name, base_url, sealed_secret } = command
  if (existing)
    throw new Rejection('conflict', `There is an endpoint connection called ${name} already. Change that one.`, {
      name: 'is taken',
    })
  checkAddress(command)
  if (!sealed_secret)
    throw new Rejection('validation_failed', 'An endpoint connection needs a signing secret.', {
      signing_secret: 'is required',
    })
  return [{ type: 'EndpointConnectionCreated', endpoint_connection_id, organisation_id, name, base_url, sealed_secret }]
}

const checkAddress = ({ base_url, http_allowed }: Address): void => {
  const reason = whyUnusable(base_url, http_allowed)
  if (reason) throw new Rejection('validation_failed', `The base address ${reason}.`, { base_url: reason })
}

const longest = 2000

const whyUnusable = (base_url: string, http_allowed: boolean): string | undefined => {
  if (base_url.length > longest) return `must have at most ${longest} characters`
  if (base_url !== base_url.trim()) return 'must not begin or end with a space'
  const url = URL.parse(base_url)
  if (!url) return 'must be a whole address, such as https://example.com/hooks'
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && http_allowed)) return notEncrypted
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or a password'
  // No server ever sees it, so it cannot be what was meant.
  if (base_url.includes('#')) return 'must not have a part after #'
  return undefined
}

export const endpointConnection: Decider<
  EndpointConnectionCommand,
  typeof endpointConnectionEvents,
  EndpointConnectionState
> = {
  category: 'endpoint_connection',
  events: endpointConnectionEvents,
  initialState: undefined,
  decide,
  evolve: (state, event, recorded) => {
    const record = evolveEndpointConnection(state?.record, event, recorded)
    if (!record) return undefined
    const sealed_secret = 'sealed_secret' in event ? event.sealed_secret : (state?.sealed_secret ?? '')
    return { record, sealed_secret }
  },
}
