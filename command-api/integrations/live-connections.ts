import { endpointConnectionEvents } from '#domain/integrations/events.ts'
import { evolveEndpointConnection, type EndpointConnection } from '#domain/integrations/record.ts'
import { idOf } from '#domain/event.ts'
import type { LiveFolds } from '#infra/consumers/live-folds.ts'

/** The endpoint connections that there are, by id, as this process knows them. */
export type LiveConnections = ReadonlyMap<string, EndpointConnection>

/** Follows the events of endpoint connections; resolves when it knows all there are. */
export const followEndpointConnections = (folds: LiveFolds): Promise<LiveConnections> =>
  folds.follow(
    {
      name: 'endpoint connections',
      version: 2,
      categories: ['endpoint_connection'],
      events: endpointConnectionEvents,
      apply: (connections, event, { stream, metadata }) => {
        const connection = evolveEndpointConnection(connections.get(idOf(stream)), event, metadata)
        if (connection) connections.set(connection.id, connection)
        else connections.delete(idOf(stream))
      },
    },
    new Map<string, EndpointConnection>(),
  )
