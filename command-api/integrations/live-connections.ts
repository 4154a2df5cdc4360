import { endpointConnectionEvents } from '#domain/integrations/events.ts'
import { evolveEndpointConnection, type EndpointConnection } from '#domain/integrations/record.ts'
import { recordsFold } from '#domain/records-fold.ts'
import type { LiveFolds } from '#infra/consumers/live-folds.ts'

/** The endpoint connections that there are, by id, as this process knows them. */
export type LiveConnections = ReadonlyMap<string, EndpointConnection>

/** Follows the events of endpoint connections; resolves when it knows all there are. */
export const followEndpointConnections = (folds: LiveFolds): Promise<LiveConnections> =>
  folds.follow(
    recordsFold({
      name: 'endpoint connections',
      version: 2,
      categories: ['endpoint_connection'],
      events: endpointConnectionEvents,
      evolve: evolveEndpointConnection,
    }),
    new Map<string, EndpointConnection>(),
  )
