import { setTimeout as pause } from 'node:timers/promises'
import { categoryOf, idOf } from '#domain/event.ts'
import { RetainedRecord } from '#domain/retention/events.ts'
import { recordErasure } from '#domain/retention/record-erasure.ts'
import { OrganisationId } from '#domain/values.ts'
import type { Clock } from '#infra/clock.ts'
import type { Leases } from '#infra/consumers/lease.ts'
import { workWhileLeased } from '#infra/consumers/leased-work.ts'
import { newId } from '#infra/ids.ts'
import type { Log } from '#infra/log.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import { kindOf, peopleOf } from './find-due.ts'
import { recordErasureId } from './rules.ts'

type Deps = {
  readonly writer: Writer
  readonly pool: Database
  readonly leases: Leases
  readonly clock: Clock
  readonly log: Log
  readonly signal: AbortSignal
  readonly pollMs?: number
}

const name = 'records erased before a restore'
const pageSize = 50

type Waiting = { readonly organisation_id: string; readonly stream: string }

/** Records of which a start has destroyed keys again, and whose erasure is not asked for again yet. */
const findWaiting = async (pool: Database): Promise<readonly Waiting[]> => {
  const { rows } = await pool.query<Waiting>(sql`
    select organisation_id, stream from record_erased_again where asked_at is null
    order by organisation_id, stream limit ${pageSize}`)
  return rows
}

/** Forgets those that the read models have forgotten. */
const forgetFinished = (pool: Database) =>
  pool.query(sql`
    delete from record_erased_again as again using record_erasures as erased
    where asked_at is not null and erased.organisation_id = again.organisation_id::uuid and erased.id = again.erasure_id
      and erased.state = 'erased' and erased.requested_at >= again.asked_at
      and exists (select from consumer_checkpoint as stored
        where stored.name = 'erased-records' and stored."position" collate "C" >= erased."position" collate "C")
      and not exists (select from consumer_set_aside as aside
        where aside.consumer = 'erased-records' and aside.stream = 'record_erasure-' || erased.id)`)

/** Asks again for the erasure of records that a restored backup has brought back. Their keys are destroyed already. */
export const eraseRecordsAgain = ({ writer, pool, leases, clock, log, signal, pollMs = 1_000 }: Deps) => {
  const { handle } = commandHandler(writer, recordErasure)

  const ask = async ({ organisation_id: of, stream }: Waiting) => {
    const organisation_id = OrganisationId.parse(of)
    const record = RetainedRecord.parse({ type: categoryOf(stream), id: idOf(stream) })
    const kind = kindOf(record.type)
    const { contact_id, second_contact_id } = await peopleOf(pool, organisation_id, record)
    const id = recordErasureId(organisation_id, record)
    const now = clock.now().toISOString()
    const about = { organisation_id, kind, record, contact_id, second_contact_id, period: null, ended_at: null }
    const context = { organisation_id, actor: { type: 'system', id: name }, correlation_id: newId(), now } as const
    const { state } = await handle(id, { type: 'RequestRecordErasure', ...about }, context)
    await pool.query(sql`
      update record_erased_again set asked_at = ${state?.requested_at}, erasure_id = ${id}
      where organisation_id = ${of} and stream = ${stream}`)
  }

  const { outage, finished } = workWhileLeased({
    name,
    leases,
    log,
    signal,
    work: async (working, wentWell) => {
      while (!working.aborted) {
        for (const record of await findWaiting(pool))
          await ask(record).catch((error: unknown) => {
            log.warn({ error, record: record.stream }, 'an erasure could not be asked for again yet')
          })
        await forgetFinished(pool)
        wentWell()
        await pause(pollMs, undefined, { signal: working }).catch(() => undefined)
      }
    },
  })
  return {
    check: () => {
      const detail = outage()
      return { name, ok: detail === undefined, ...(detail !== undefined && { detail }) }
    },
    finished,
  }
}
