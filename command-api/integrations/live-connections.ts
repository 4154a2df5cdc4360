import { endpointConnectionEvents } from '#domain/integrations/events.ts'
import { evolveEndpointConnection, type EndpointConnection } from '#domain/integrations/record.ts'
import { idOf } from '#domain/event.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { liveFold } from '#infra/consumers/live-fold.ts'

/** The endpoint connections that there are, by id, as this process knows them. */
export type LiveConnections = ReadonlyMap<string, EndpointConnection>

/** Follows the events of endpoint connections; resolves when it knows all there are. */
export const followEndpointConnections = (
  eventLog: EventLog,
  options: Parameters<typeof liveFold>[3],
): Promise<LiveConnections> =>
  liveFold(
    eventLog,
    {
      name: 'endpoint connections',
      categories: ['endpoint_connection'],
      events: endpointConnectionEvents,
      apply: (connections, event, { stream, metadata }) => {
        const connection = evolveEndpointConnection(connections.get(idOf(stream)), event, metadata)
        if (connection) connections.set(connection.id, connection)
        else connections.delete(idOf(stream))
      },
    },
    new Map<string, EndpointConnection>(),
    options,
  )
