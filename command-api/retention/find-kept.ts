import { keptBecause, periodNotBinding, type KeptBecause } from '#domain/retention/kept.ts'
import { bindingPeriods, bindsAt, type Periods } from '#domain/retention/record.ts'
import type { CustomerId, OrganisationId } from '#domain/values.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { findHindrances } from '../erasures/find-hindrances.ts'
import { isRecord, type DueRecord, type DueType } from './find-due.ts'

type Asked = { readonly organisation_id: OrganisationId; readonly rules: Periods; readonly now: Date }

/** The claims on a policy that are kept for longer than the policy: they would go with it. */
const findClaims = async (
  pool: Database,
  policy_id: string,
  { organisation_id, rules, now }: Asked,
): Promise<readonly string[]> => {
  const periods = bindingPeriods(rules, now).claims ?? []
  const { rows } = await pool.query<{ readonly id: string }>(sql`
    select id from claims where organisation_id = ${organisation_id} and policy_id = ${policy_id}
      and coalesce((document ->> 'updated_at')::timestamptz >=
        (select min(${now}::timestamptz - period::interval) from unnest(${[...periods]}::text[]) as period), true)
    order by id limit 100`)
  return rows.map(({ id }) => id)
}

/** The people whom a record tells of: a report of a message may be about many, all of whom have its address. */
const peopleIn = async (
  pool: Database,
  { record, contact_id, second_contact_id }: DueRecord<DueType>,
  organisation_id: OrganisationId,
): Promise<readonly CustomerId[]> => {
  if (record.type !== 'message_news') return [contact_id, second_contact_id].filter((id) => id !== null)
  const { rows } = await pool.query<{ readonly id: CustomerId }>(sql`
    select distinct contact_id as id from message_news
    where organisation_id = ${organisation_id} and news_id = ${record.id} and contact_id is not null`)
  return rows.map(({ id }) => id)
}

/** When the period by which a record is due binds by itself; undefined: it does, or the former one is over, too. */
const findBindsAt = async (
  pool: Database,
  { kind, ended_at }: DueRecord<DueType>,
  { rules, now }: Asked,
): Promise<string | undefined> => {
  const at = bindsAt(rules, now)[kind]
  const binding = bindingPeriods(rules, now)[kind]
  if (at === undefined || binding === undefined) return at
  const { rows } = await pool.query<{ readonly is_over: boolean }>(sql`
    select ${ended_at}::timestamptz < min(${now}::timestamptz - period::interval) as is_over
    from unnest(${[...binding]}::text[]) as period`)
  return rows[0]?.is_over ? undefined : at
}

/** Why a record is kept although the period that is set is over; nothing: it may be erased. */
export const findKept = async (
  pool: Database,
  due: DueRecord<DueType>,
  asked: Asked,
): Promise<readonly KeptBecause[]> => {
  const { organisation_id } = asked
  const { record } = due
  const at = await findBindsAt(pool, due, asked)
  const unbound = at === undefined ? [] : [periodNotBinding(organisation_id, at)]
  if (!isRecord(record)) return unbound
  const people = await peopleIn(pool, due, organisation_id)
  const hindrances = await Promise.all(
    people.map(async (person) => findHindrances(pool, { organisation_id, contact_id: person })),
  )
  const claims = record.type === 'policy' ? await findClaims(pool, record.id, asked) : []
  return [...unbound, ...keptBecause(record, hindrances.flat(), claims)]
}
