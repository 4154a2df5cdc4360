import { erasure } from '#domain/erasures/erasure.ts'
import { CustomerId, OrganisationId } from '#domain/values.ts'
import { newId } from '#infra/ids.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { commandHandler } from '../writing/handle.ts'
import { askAgain, type AskAgainDeps } from './ask-again.ts'

const name = 'people erased before a restore'
const pageSize = 20

type Waiting = { readonly organisation_id: string; readonly contact_id: string; readonly streams: readonly string[] }

/** People whose keys a start has destroyed again and whose erasure is not asked for yet, with the records of theirs that their details alone may have led to. */
const findWaiting = async (pool: Database): Promise<readonly Waiting[]> => {
  const { rows } = await pool.query<Waiting>(sql`
    select organisation_id, contact_id, coalesce(
      array_agg(subject order by subject) filter (where subject ~ '^[a-z_]+-[0-9a-f-]{36}$'), '{}') as streams
    from key_erased_again where not exists (
      select from erasures where erasures.organisation_id = key_erased_again.organisation_id::uuid
        and erasures.contact_id = key_erased_again.contact_id and given_up_at is null)
    group by organisation_id, contact_id order by organisation_id, contact_id limit ${pageSize}`)
  return rows
}

/** Forgets those whom the read models have forgotten. */
const forgetFinished = (pool: Database) =>
  pool.query(sql`
    delete from key_erased_again as again using erasures
    where erasures.organisation_id = again.organisation_id::uuid and erasures.contact_id = again.contact_id
      and document ->> 'erased_at' is not null
      and exists (select from consumer_checkpoint as stored
        where stored.name = 'erased-people' and stored."position" collate "C" >= erasures."position" collate "C")
      and not exists (select from consumer_set_aside as aside
        where aside.consumer = 'erased-people' and aside.stream = 'erasure-' || erasures.contact_id)`)

/**
 * Asks again for the erasure of people whom a restored backup has brought back. Their keys are destroyed already: what is left is
 * that the log says so, and that the read models forget them.
 */
export const eraseAgain = (deps: AskAgainDeps) => {
  const { writer, pool, clock } = deps
  const { handle } = commandHandler(writer, erasure)
  const ask = async ({ organisation_id, contact_id, streams }: Waiting) => {
    const person = { organisation_id: OrganisationId.parse(organisation_id), contact_id: CustomerId.parse(contact_id) }
    const command = { type: 'RequestErasure', ...person, requested_by: null, hindrances: [], streams } as const
    await handle(person.contact_id, command, {
      organisation_id: person.organisation_id,
      actor: { type: 'system', id: name },
      correlation_id: newId(),
      now: clock.now().toISOString(),
    })
  }
  return askAgain(deps, {
    name,
    findWaiting: async () => findWaiting(pool),
    ask,
    forgetFinished: async () => forgetFinished(pool),
  })
}
