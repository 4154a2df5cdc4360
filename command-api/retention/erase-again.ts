import { categoryOf, idOf } from '#domain/event.ts'
import { RetainedRecord } from '#domain/retention/events.ts'
import { recordErasure } from '#domain/retention/record-erasure.ts'
import { OrganisationId } from '#domain/values.ts'
import { newId } from '#infra/ids.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { commandHandler } from '../writing/handle.ts'
import { askAgain, type AskAgainDeps } from '../erasures/ask-again.ts'
import { kindOf, peopleOf } from './find-due.ts'
import { recordErasureId } from './rules.ts'

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
export const eraseRecordsAgain = (deps: AskAgainDeps) => {
  const { writer, pool, clock } = deps
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

  return askAgain(deps, {
    name,
    findWaiting: async () => findWaiting(pool),
    ask,
    forgetFinished: async () => forgetFinished(pool),
  })
}
