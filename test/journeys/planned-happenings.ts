import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Pool } from 'pg'
import { deliveryOutcomeEvents } from '#domain/deliveries/events.ts'
import { toStored, type EventOf, type EventShapes } from '#domain/event.ts'
import { EndpointConnectionId, endpointConnectionEvents } from '#domain/integrations/events.ts'
import { signingSecretBinding } from '#domain/integrations/record.ts'
import { OrganisationId } from '#domain/values.ts'
import { LifecycleActionId, lifecycleActionEvents } from '#domain/workflows/events.ts'
import type { Keys } from '#infra/crypto/keys.ts'
import { seal } from '#infra/crypto/seal.ts'
import { postgresLog } from '#infra/event-log/postgres/postgres-log.ts'
import { derivedId } from '#infra/ids.ts'

const atOnce = 32

type Happening = { readonly databaseUrl: string; readonly pool: Pool; readonly keys: Keys; readonly to: string }

/**
 * A firm that is sent an event whenever something happens. `happen` appends so many events to the log, each in a stream of its
 * own, and gives the ids that their deliveries must have.
 */
export const planHappenings = async ({ databaseUrl, pool, keys, to }: Happening) => {
  const log = postgresLog({ url: databaseUrl })
  const organisation_id = OrganisationId.parse(randomUUID())
  const connection = EndpointConnectionId.parse(randomUUID())
  const action = LifecycleActionId.parse(randomUUID())

  const append = async <Shapes extends EventShapes>(shapes: Shapes, stream: string, event: EventOf<Shapes>) => {
    const id = randomUUID()
    const metadata = {
      organisation_id,
      actor: { type: 'system', id: null },
      correlation_id: id,
      causation_id: null,
      occurred_at: new Date().toISOString(),
    } as const
    // The same append twice is one.
    await again(() => log.append(stream, 'no_stream', [{ id, ...toStored(shapes, event), metadata }]))
    return id
  }

  await pool.query('insert into delivery_planning default values on conflict do nothing')
  await append(endpointConnectionEvents, `endpoint_connection-${connection}`, {
    type: 'EndpointConnectionCreated',
    endpoint_connection_id: connection,
    organisation_id,
    name: 'CRM',
    base_url: to,
    sealed_secret: seal(keys, 'a signing secret', signingSecretBinding(organisation_id, connection)),
  })
  await append(lifecycleActionEvents, `lifecycle_action-${action}`, {
    type: 'LifecycleActionCreated',
    lifecycle_action_id: action,
    organisation_id,
    name: 'Tell',
    product_id: null,
    event_types: ['webhook.failed'],
    endpoint_connection_id: connection,
    active: true,
  })

  const happenOnce = async (): Promise<string> => {
    const delivery_id = randomUUID()
    const event_id = await append(deliveryOutcomeEvents, `delivery_news-${randomUUID()}`, {
      type: 'DeliveryFailed',
      delivery_id,
      connection_id: connection,
      event_id: randomUUID(),
      event_type: 'policy.bound',
      subject_type: 'policy',
      subject_id: randomUUID(),
      attempts: 5,
      status: 503,
      reason: null,
    })
    return derivedId('delivery', organisation_id, event_id, action)
  }

  return {
    happen: async (count: number): Promise<ReadonlySet<string>> => {
      const ids = new Set<string>()
      let begun = 0
      const some = async () => {
        while (begun++ < count) ids.add(await happenOnce())
      }
      await Promise.all(Array.from({ length: Math.min(atOnce, count) }, some))
      return ids
    },
    close: () => log.close(),
  }
}

/** PostgreSQL may be away for a moment. */
const again = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  for (;;)
    try {
      return await work()
    } catch {
      await pause(200)
    }
}
