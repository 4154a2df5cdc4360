import type { Decider } from '../decider.ts'
import { Rejection } from '../rejection.ts'
import type { OrganisationId } from '../values.ts'
import {
  integrationConnectionEvents,
  type CustomIntegrationId,
  type IntegrationConnectionEvent,
  type IntegrationConnectionId,
} from './events.ts'
import { evolveIntegrationConnection, type SealedConnection } from './record.ts'

type SealedSecrets = Readonly<Record<string, string>>

export type IntegrationConnectionCommand =
  | {
      readonly type: 'CreateIntegrationConnection'
      readonly integration_connection_id: IntegrationConnectionId
      readonly custom_integration_id: CustomIntegrationId
      readonly organisation_id: OrganisationId
      readonly name: string
      readonly sealed_secrets: SealedSecrets
    }
  | { readonly type: 'SetIntegrationSecrets'; readonly sealed_secrets: SealedSecrets }
  | { readonly type: 'RevokeIntegrationConnection' }

type State = SealedConnection | undefined

/** More secrets than any API asks for. */
const mostSecrets = 20

const decide = (command: IntegrationConnectionCommand, connection: State): readonly IntegrationConnectionEvent[] => {
  if (command.type === 'CreateIntegrationConnection') {
    const { type: _type, sealed_secrets, ...created } = command
    if (connection)
      throw new Rejection(
        'conflict',
        connection.revoked_at === null
          ? `There is a connection called ${command.name} already. Change that one.`
          : `The connection called ${command.name} was revoked, and its address stays closed. Choose another name.`,
        { name: 'is taken' },
      )
    return [{ type: 'IntegrationConnectionCreated', ...created }, ...secretsSet(sealed_secrets, {})]
  }
  if (!connection) throw new Rejection('not_found', 'There is no connection with this id. Check the address.')
  if (command.type === 'RevokeIntegrationConnection')
    return connection.revoked_at === null ? [{ type: 'IntegrationConnectionRevoked', name: connection.name }] : []
  if (connection.revoked_at !== null) throw new Rejection('conflict', 'The connection was revoked. Create another one.')
  return secretsSet(command.sealed_secrets, connection.sealed_secrets)
}

const secretsSet = (given: SealedSecrets, known: SealedSecrets): readonly IntegrationConnectionEvent[] => {
  if (new Set([...Object.keys(given), ...Object.keys(known)]).size > mostSecrets)
    throw new Rejection('validation_failed', `A connection has at most ${mostSecrets} secrets.`, {
      secrets: `must be at most ${mostSecrets}`,
    })
  return Object.entries(given).map(([name, sealed_secret]) => ({ type: 'IntegrationSecretSet', name, sealed_secret }))
}

export const integrationConnection: Decider<IntegrationConnectionCommand, typeof integrationConnectionEvents, State> = {
  category: 'integration_connection',
  events: integrationConnectionEvents,
  initialState: undefined,
  decide,
  evolve: evolveIntegrationConnection,
}
