import { setTimeout as pause } from 'node:timers/promises'
import type { Pool } from 'pg'
import { deliveryOutcomeEvents, type DeliveryOutcomeEvent } from '#domain/deliveries/events.ts'
import { toStored } from '#domain/event.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { derivedId } from '#infra/ids.ts'
import type { Leases } from '#infra/consumers/lease.ts'
import type { Log } from '#infra/log.ts'
import { sql } from '#infra/postgres/postgres.ts'

type Parts = {
  readonly pool: Pool
  readonly eventLog: Pick<EventLog, 'append'>
  readonly leases: Leases
  readonly log: Log
  readonly signal: AbortSignal
}

type Outcome = {
  readonly id: string
  readonly organisation_id: string
  readonly happened_at: Date
  readonly type: string
  readonly data: object
}

const pollMs = 1_000
const afterTroubleMs = 5_000
const atOnce = 100

/** Appends to the log what became of deliveries, in one worker of all. */
export const startPublishingOutcomes = (parts: Parts): { readonly finished: Promise<void> } => {
  const { leases, log, signal } = parts
  const run = async () => {
    while (!signal.aborted) {
      try {
        const lease = await leases.take('delivery news', signal)
        if (!lease) return
        try {
          const isOver = () => signal.aborted || lease.signal.aborted
          while (!isOver()) if ((await publishOutcomes(parts)) < atOnce) await rest(pollMs, signal)
        } finally {
          await lease.release()
        }
      } catch (error) {
        log.warn({ error }, 'news of deliveries could not be appended, trying again')
        await rest(afterTroubleMs, signal)
      }
    }
  }
  return { finished: run() }
}

const rest = (ms: number, signal: AbortSignal) => pause(ms, undefined, { signal }).catch(() => undefined)

/**
 * Appends each to a stream of its own, with an id that follows from it, and then forgets it: after a crash in between, the
 * same append changes nothing. Returns how many there were.
 */
export const publishOutcomes = async ({
  pool,
  eventLog,
  log,
}: Pick<Parts, 'pool' | 'eventLog' | 'log'>): Promise<number> => {
  const { rows } = await pool.query<Outcome>(sql`
    select id, organisation_id, happened_at, type, data from delivery_news order by happened_at limit ${atOnce}`)
  await Promise.all(
    rows.map(async (outcome) => {
      const event = eventOf(outcome)
      if (event.type === 'ConnectionFailing' || event.type === 'ConnectionDisabled')
        log.warn({ organisation_id: outcome.organisation_id, ...event }, 'a connection fails for long')
      await eventLog.append(`delivery_news-${outcome.id}`, 'no_stream', [
        {
          id: derivedId('delivery_news', outcome.organisation_id, outcome.id),
          ...toStored(deliveryOutcomeEvents, event),
          metadata: {
            organisation_id: outcome.organisation_id,
            actor: { type: 'system', id: 'delivery-worker' },
            correlation_id: outcome.id,
            causation_id: null,
            occurred_at: outcome.happened_at.toISOString(),
          },
        },
      ])
    }),
  )
  if (rows.length > 0)
    await pool.query(sql`delete from delivery_news where id = any (${rows.map(({ id }) => id)}::uuid[])`)
  return rows.length
}

const eventOf = ({ type, data }: Outcome): DeliveryOutcomeEvent => {
  const shape = deliveryOutcomeEvents[type as keyof typeof deliveryOutcomeEvents] // the statements that insert know no other
  const written = Object.fromEntries(Object.entries(data).map(([name, value]) => [name, instant(name, value)]))
  return { type, ...shape.schema.parse(written) } as DeliveryOutcomeEvent
}

/** PostgreSQL writes times in a form of its own. */
const instant = (name: string, value: unknown): unknown =>
  (name === 'failing_since' || name === 'disabled_from') && typeof value === 'string'
    ? new Date(value).toISOString()
    : value
