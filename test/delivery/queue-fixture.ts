import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { applicationEvents } from '#domain/applications/events.ts'
import { putBack, setAside } from '#infra/consumers/set-aside.ts'
import { transaction } from '#infra/postgres/postgres.ts'
import { consumersBeside } from '#infra/read-models.ts'
import { partitionsFor } from '../../delivery-worker/recovery/partitions.ts'
import type { Cancellation, PlannedDelivery } from '../../delivery-worker/planning/plan.ts'
import { cancel, claim, complete, enqueue, type Claimed, type Completed } from '../../delivery-worker/sending/queue.ts'
import { testDatabase } from '../database.ts'
import { recorded } from '../recorded.ts'
import { organisation_id } from './applications.ts'
import { type AttemptRow, type DeliveryRow } from './fixture.ts'

const recorded_at = '2026-03-01T10:00:00.000Z'

/** The tables of deliveries, with read models that have passed everything. */
export const deliveryQueue = async () => {
  const database = await testDatabase()
  const { pool } = database
  const ensurePartitions = partitionsFor(pool)
  const stand = (consumer: string | undefined, position: string | null) =>
    pool.query(
      `insert into consumer_checkpoint (name, version, position, categories, awaited) values ($1, 1, $2, '{}', true)
        on conflict (name) do update set position = excluded.position`,
      [consumer, position],
    )
  const passed = async (applications: string | null, quotes: string | null) => {
    for (const [name, position] of Object.entries({ applications, quotes })) await stand(name, position)
  }
  await passed('9', '9')
  return {
    ...database,
    /** Says how far the read models are. */
    passed,
    /** The same of the version that we read, beside the one in use. */
    passedBeside: (readModel: string, position: string) => stand(consumersBeside.get(readModel), position),
    /** A read model cannot handle an event of a record. */
    setAside: (consumer: string, stream: string) => setAside(pool, consumer, [unhandled(stream)]),
    putBack: (consumer: string, stream: string) => putBack(pool, consumer, stream),
    /** So much time passes for what is pending. */
    passTime: async (seconds: number) => {
      await pool.query(
        'update delivery_queue set due_at = due_at - make_interval(secs => $1), leased_until = leased_until - make_interval(secs => $1)',
        [seconds],
      )
      await pool.query('update delivery_endpoint set probe_until = probe_until - make_interval(secs => $1)', [seconds])
    },
    enqueue: async (...planned: readonly PlannedDelivery[]) => {
      await ensurePartitions(planned.map((each) => each.recorded_at))
      await transaction(pool, (db) => enqueue(db, planned))
    },
    cancel: (cancellation: Cancellation) => transaction(pool, (db) => cancel(db, cancellation)),
    /** Claims up to so many of each connection. */
    claim: (connections: readonly string[], room = 100, organisation: string = organisation_id) =>
      claim(
        pool,
        connections.map((connection_id) => ({
          organisation_id: organisation,
          connection_id,
          room,
          standing: 'new' as const,
        })),
      ),
    complete: (...completed: readonly Completed[]) => complete(pool, completed),
    rows: async () =>
      (
        await pool.query<DeliveryRow>(`
          select delivery.*, due_at, sent, unsent, started_at
          from delivery left join delivery_queue using (id) order by id`)
      ).rows,
    attempts: async () => (await pool.query<AttemptRow>('select * from delivery_attempt order by number')).rows,
  }
}
export type DeliveryQueue = Awaited<ReturnType<typeof deliveryQueue>>

export const connect = async (pool: Pool, organisation: string = organisation_id): Promise<string> => {
  const connection_id = randomUUID()
  await pool.query(
    `insert into delivery_known (kind, type, id, organisation_id, facts)
    values ('connection', 'endpoint_connection', $1, $2, $3)`,
    [connection_id, organisation, { base_url: 'https://crm.example.com/', sealed_secret: 'sealed', removed: false }],
  )
  return connection_id
}

const unhandled = (stream: string) => {
  const [event] = recorded(applicationEvents, stream, [
    { type: 'ApplicationAbandoned', reason: 'inactive', superseded_by: null },
  ])
  if (!event) throw new Error('nothing was recorded')
  return { event, record: stream, reason: 'It cannot be handled.' }
}

export const planned = (connection_id: string, changes: Partial<PlannedDelivery> = {}): PlannedDelivery => {
  const subject_id = randomUUID()
  return {
    id: randomUUID(),
    recorded_at,
    organisation_id,
    event_id: randomUUID(),
    action_id: randomUUID(),
    connection_id,
    type: 'application.started',
    stream: `application-${subject_id}`,
    position: '1',
    sequence: 0,
    subject_type: 'application',
    subject_id,
    waits_for: ['applications'],
    message: { note: 'hello' },
    cancelled: null,
    ...changes,
  }
}

const ended = ({ id, recorded_at: at, connection_id, number, started_at, waited_seconds }: Claimed) => ({
  id,
  recorded_at: at,
  connection_id,
  number,
  started_at,
  waited_seconds,
  outcome: 'answered' as const,
  reason: null,
  exchange: null,
  key_id: null,
  sealed: null,
  delay_seconds: 0,
})
export const success = (claimed: Claimed): Completed => ({ ...ended(claimed), status: 200, state: 'delivered' })
export const failure = (claimed: Claimed): Completed => ({ ...ended(claimed), status: 500, state: 'failed' })
export const retried = (claimed: Claimed, delay_seconds = 10): Completed => ({
  ...ended(claimed),
  status: 500,
  state: 'pending',
  delay_seconds,
})

/** The only one of some. */
export const only = <Each>(all: readonly Each[]): Each => {
  const [one, ...others] = all
  if (one === undefined || others.length > 0) throw new Error(`There are ${all.length}, not one.`)
  return one
}
