import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { v7 as uuidv7 } from 'uuid'
import type { NewEvent } from '#domain/event.ts'
import { postgresLog } from '#infra/event-log/postgres/postgres-log.ts'
import { migrate } from '#infra/postgres/migrations.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { createPool } from '#infra/postgres/postgres.ts'
import { sealed } from './sealed.ts'
import { inTurns, rated, type Figure } from './figure.ts'
import type { Pace } from './throughput.ts'
import type { Environment } from './environment.ts'

const crowds = [1, 8, 32]
const eventsOfStream = 10

const metadata = {
  organisation_id: randomUUID(),
  actor: { type: 'api', id: randomUUID() },
  correlation_id: randomUUID(),
  causation_id: null,
  occurred_at: new Date().toISOString(),
} as const
const data = { saved: { smoker: false, height_cm: 178, weight_kg: 77, occupation: 'Bench fitter' }, removed: [] }

const newEvent = (): NewEvent => ({ id: uuidv7(), type: 'AnswersSaved', schema_version: 1, data, metadata })

/**
 * Appends of one event each, by writers who each write to streams of their own and wait for every answer, against one-row
 * inserts of as many bytes by as many connections into a table that has nothing but a primary key. Then the same with
 * personal data sealed, each stream under a key of its own, against the same without sealing.
 */
export const measureAppend = async (
  environment: Environment,
  { rounds, seconds }: Pace,
): Promise<readonly Figure[]> => {
  const url = await environment.database('append')
  const pool = createPool(url)
  await migrate(pool)
  await pool.query('create table plain (id uuid primary key, stream text, data json, metadata json)')
  const log = postgresLog({ url })
  const sealing = sealed(log, pool)

  const appendFor = (to: EventLog) => (deadline: number) => async (): Promise<number> => {
    let count = 0
    while (performance.now() < deadline) {
      const stream = `bench-${randomUUID()}`
      for (let revision = 0; revision < eventsOfStream && performance.now() < deadline; revision++) {
        const { outcome } = await to.append(stream, revision === 0 ? 'no_stream' : revision - 1, [newEvent()])
        if (outcome !== 'appended') throw new Error('A stream of its own had another writer.')
        count++
      }
    }
    return count
  }

  const insertFor =
    (deadline: number) =>
    async (client: Client): Promise<number> => {
      let count = 0
      const text = 'insert into plain (id, stream, data, metadata) values ($1, $2, $3, $4)'
      while (performance.now() < deadline) {
        const { id, ...event } = newEvent()
        const values = [id, `bench-${randomUUID()}`, JSON.stringify(event.data), JSON.stringify(event.metadata)]
        await client.query({ name: 'insert', text, values })
        count++
      }
      return count
    }

  const figures: Figure[] = []
  for (const writers of crowds) {
    const clients = Array.from({ length: writers }, () => new Client({ connectionString: url }))
    await Promise.all(clients.map(async (client) => client.connect()))
    const perSecond = async (work: (deadline: number) => (client: Client) => Promise<number>): Promise<number> => {
      const startedAt = performance.now()
      const counts = await Promise.all(clients.map(work(startedAt + seconds * 1_000)))
      return (counts.reduce((sum, count) => sum + count, 0) / (performance.now() - startedAt)) * 1_000
    }
    // Once for nothing: plans, caches and the compiler settle.
    await perSecond(insertFor)
    await perSecond(appendFor(log))
    await perSecond(appendFor(sealing))
    const measured = await inTurns(
      rounds,
      () => perSecond(insertFor),
      () => perSecond(appendFor(log)),
    )
    const sealedMeasured = await inTurns(
      rounds,
      () => perSecond(appendFor(log)),
      () => perSecond(appendFor(sealing)),
    )
    await Promise.all(clients.map(async (client) => client.end()))
    const name = `append, ${writers} ${writers === 1 ? 'writer' : 'writers'}`
    figures.push(rated(name, measured, writers === 32 ? { target: { ratio: 0.8 } } : {}))
    figures.push(rated(`${name}, sealed, to not`, sealedMeasured))
  }

  await log.close()
  await pool.end()
  return figures
}
