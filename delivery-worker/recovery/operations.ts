import type { ClientBase } from 'pg'
import {
  deliveryPingEvents,
  deliveryRecoveryEvents,
  deliverySettingsEvents,
  type DeliveryRecoveryEvent,
  type DeliverySettingsEvent,
} from '#domain/deliveries/events.ts'
import { fromStored, organisationOf, type EventOf, type RecordedEvent } from '#domain/event.ts'
import { consume, type ConsumerParts, type Consuming } from '#infra/consumers/consumer.ts'
import { derivedId } from '#infra/ids.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { endpointKey, webhookSubject } from '../capability.ts'
import { forgetStandings } from '../endpoints/endpoints.ts'
import { recoverySince } from './recovery.ts'
import { partitionsFor } from './partitions.ts'
import type { PlannedDelivery } from '../planning/plan.ts'
import { enqueue } from '../sending/queue.ts'

/** The operator's acts upon deliveries themselves. */
const shapes = { ...deliveryRecoveryEvents, ...deliverySettingsEvents, ...deliveryPingEvents }
type Operation = EventOf<typeof shapes>

/** Carries out what the operator does about deliveries, in the transaction that moves the checkpoint. */
export const startOperations = ({
  onPlanned,
  ...parts
}: ConsumerParts & { readonly onPlanned: () => void }): Consuming => {
  const ensurePartitions = partitionsFor(parts.pool)
  return consume({
    ...parts,
    name: 'delivery operations',
    version: 1,
    categories: ['delivery_recovery', 'delivery_settings', 'delivery_ping'],
    types: Object.keys(shapes),
    handle: async (events, db) => {
      const planned = await operate(db, events)
      await ensurePartitions(planned.map(({ recorded_at }) => recorded_at))
      await enqueue(db, planned)
      return planned.length > 0 ? onPlanned : undefined
    },
  })
}

/** Carries out the operations of a batch; returns the deliveries that they lead to. */
export const operate = async (
  db: ClientBase,
  events: readonly RecordedEvent[],
): Promise<readonly PlannedDelivery[]> => {
  const planned: PlannedDelivery[] = []
  for (const recorded of events) {
    const operation: Operation = fromStored(shapes, recorded)
    switch (operation.type) {
      case 'DeliverySettingsChanged':
        await applySettings(db, operation)
        break
      case 'DeliveryRecoveryRequested':
        await beginRecovery(db, operation, recorded.recorded_at)
        break
      case 'ConnectionPinged':
        planned.push(pingOf(recorded, operation))
        break
    }
  }
  return planned
}

const applySettings = async (db: ClientBase, settings: DeliverySettingsEvent): Promise<void> => {
  const { connection_id, organisation_id, per_second, at_once, in_order, disable_after_minutes } = settings
  await db.query(sql`
    insert into delivery_setting (connection_id, organisation_id, per_second, at_once, in_order, disable_after_minutes)
    values (${connection_id}, ${organisation_id}, ${per_second}, ${at_once}, ${in_order}, ${disable_after_minutes})
    on conflict (connection_id) do update set per_second = excluded.per_second, at_once = excluded.at_once,
      in_order = excluded.in_order, disable_after_minutes = excluded.disable_after_minutes, next_at = '-infinity',
      disabled_at = case when excluded.disable_after_minutes is null then null else delivery_setting.disabled_at end`)
  await db.query(sql`
    update delivery_queue as queue set in_order = ${in_order}, due_at = case
      when not ${in_order}::boolean then case when due_at = 'infinity' then now() else due_at end
      when started_at is null and sent = 0 and exists (
        select from delivery_queue as earlier where earlier.organisation_id = queue.organisation_id
          and earlier.connection_id = queue.connection_id and earlier.stream = queue.stream
          and earlier.position < queue.position) then 'infinity' else due_at end
    where organisation_id = ${organisation_id} and connection_id = ${connection_id} and in_order <> ${in_order}`)
}

/** Notes the request; it is carried out beside all else that is sent. */
const beginRecovery = async (db: ClientBase, asked: DeliveryRecoveryEvent, requested_at: Date): Promise<void> => {
  const { delivery_recovery_id, organisation_id, delivery_id, connection_id, types, states, per_second } = asked
  const since = await recoverySince(db, asked)
  await db.query(sql`
    insert into delivery_recovery (id, organisation_id, requested_at, delivery_id, connection_id, types, states, since, until,
      per_second, after_recorded_at)
    values (${delivery_recovery_id}, ${organisation_id}, ${requested_at}, ${delivery_id}, ${connection_id}, ${types}::text[],
      ${states}::text[], ${since}, ${asked.until ?? requested_at}, ${per_second}, ${since})
    on conflict do nothing`)
  if (!asked.enables || connection_id === null) return
  await db.query(sql`
    update delivery_setting set failing_since = null, warned_at = null, disabled_at = null
    where connection_id = ${connection_id} and organisation_id = ${organisation_id}`)
  await forgetStandings(db, [connection_id])
}

export const pingType = 'webhook.ping'

type Ping = EventOf<typeof deliveryPingEvents>

const pingOf = (recorded: RecordedEvent, { connection_id, endpoint }: Ping): PlannedDelivery => {
  const { id: event_id, stream, position, revision, recorded_at, metadata } = recorded
  const organisation_id = organisationOf(recorded)
  return {
    id: derivedId('delivery', organisation_id, event_id, connection_id),
    recorded_at: recorded_at.toISOString(),
    organisation_id,
    event_id,
    action_id: connection_id,
    connection_id,
    type: pingType,
    stream,
    position,
    sequence: revision,
    subject_type: webhookSubject,
    subject_id: connection_id,
    waits_for: [],
    message: {
      id: event_id,
      type: pingType,
      occurred_at: metadata.occurred_at,
      aggregate: { type: 'connection', id: connection_id },
      payload: {},
      product_id: null,
      organization_id: organisation_id,
      ...(endpoint !== null && { [endpointKey]: endpoint }),
    },
    cancelled: null,
  }
}
