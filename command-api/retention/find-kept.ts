import { keptBecause, type KeptBecause } from '#domain/retention/kept.ts'
import type { RetentionPeriods } from '#domain/retention/events.ts'
import type { CustomerId, OrganisationId } from '#domain/values.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { findHindrances } from '../erasures/find-hindrances.ts'
import { isRecord, type DueRecord, type DueType } from './find-due.ts'

type About = Pick<DueRecord<DueType>, 'record' | 'contact_id' | 'second_contact_id'>
type Asked = { readonly organisation_id: OrganisationId; readonly periods: RetentionPeriods; readonly now: Date }

/** The claims on a policy that are kept for longer than the policy: they would go with it. */
const findClaims = async (
  pool: Database,
  policy_id: string,
  { organisation_id, periods, now }: Asked,
): Promise<readonly string[]> => {
  const { rows } = await pool.query<{ readonly id: string }>(sql`
    select id from claims where organisation_id = ${organisation_id} and policy_id = ${policy_id}
      and coalesce((document ->> 'updated_at')::timestamptz >= ${now}::timestamptz - ${periods.claims ?? null}::interval, true)
    order by id limit 100`)
  return rows.map(({ id }) => id)
}

/** The people whom a record tells of: a report of a message may be about many, all of whom have its address. */
const peopleIn = async (
  pool: Database,
  { record, contact_id, second_contact_id }: About,
  organisation_id: OrganisationId,
): Promise<readonly CustomerId[]> => {
  if (record.type !== 'message_news') return [contact_id, second_contact_id].filter((id) => id !== null)
  const { rows } = await pool.query<{ readonly id: CustomerId }>(sql`
    select distinct contact_id as id from message_news
    where organisation_id = ${organisation_id} and news_id = ${record.id} and contact_id is not null`)
  return rows.map(({ id }) => id)
}

/** Why a record is kept although its period is over; nothing: it may be erased. */
export const findKept = async (pool: Database, about: About, asked: Asked): Promise<readonly KeptBecause[]> => {
  const { organisation_id } = asked
  const { record } = about
  if (!isRecord(record)) return []
  const people = await peopleIn(pool, about, organisation_id)
  const hindrances = await Promise.all(
    people.map(async (person) => findHindrances(pool, { organisation_id, contact_id: person })),
  )
  const claims = record.type === 'policy' ? await findClaims(pool, record.id, asked) : []
  return keptBecause(record, hindrances.flat(), claims)
}
