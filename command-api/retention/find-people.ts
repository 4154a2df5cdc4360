import { unsettledStates } from '#domain/complaints/record.ts'
import { periodsOfPeople, type Periods } from '#domain/retention/record.ts'
import type { CustomerId, OrganisationId } from '#domain/values.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'

type Asked = {
  readonly organisation_id: OrganisationId
  readonly rules: Periods
  readonly now: Date
  /** Those whose id is greater, or this one alone, also where their erasure is asked for. */
  readonly after?: string | undefined
  readonly only?: CustomerId
}

const first = '00000000-0000-0000-0000-000000000000'
const lookedAtOnce = 1_000

/**
 * People of whom nothing is kept any more: at least one of their records was erased because its period was over, and none is left
 * that was not. Their own details are needed for as long as the longest period, since they last changed. A membership, and a
 * complaint that is to be kept, keep them, too.
 */
export const findPeopleDue = async (
  pool: Database,
  { organisation_id, rules, now, after, only }: Asked,
): Promise<{ readonly people: readonly CustomerId[]; readonly after: string | undefined }> => {
  const longest = periodsOfPeople(rules, now)
  if (longest.length === 0) return { people: [], after: undefined }
  const { rows } = await pool.query<{ readonly id: CustomerId; readonly is_due: boolean }>(sql`
    with erased as not materialized (
      select record_type, record_id, contact_id, second_contact_id, erased_at from record_erasures
      where organisation_id = ${organisation_id} and state = 'erased'),
    looked_at as (
      select id, updated_at from customers where organisation_id = ${organisation_id}
        and id > ${after ?? first} and (${only ?? null}::uuid is null or id = ${only ?? null})
      order by id limit ${lookedAtOnce})
    select id, (
      (exists (select from erased where erased.contact_id = person.id)
        or exists (select from erased where erased.second_contact_id = person.id))
      and updated_at < all (array(select ${now}::timestamptz - unnest(${[...longest]}::text[])::interval))
      and not exists (select from erasures where organisation_id = ${organisation_id} and erasures.contact_id = person.id
        and (${only ?? null}::uuid is null or erased_at is not null) and given_up_at is null)
      and not exists (select from applications where organisation_id = ${organisation_id}
        and (customer_id = person.id or partner_id = person.id)
        and not exists (select from erased where record_type = 'application' and record_id = applications.id)
        and not exists (select from erased where record_type = 'policy'
          and record_id = (applications.document ->> 'policy_id')::uuid))
      and not exists (select from policies where organisation_id = ${organisation_id} and customer_id = person.id
        and not exists (select from erased where record_type = 'policy' and record_id = policies.id))
      and not exists (select from lead_records where organisation_id = ${organisation_id}
        and lead_records.contact_id = person.id
        and not exists (select from erased where record_type = 'lead' and record_id = person.id
          and erased.erased_at >= lead_records.updated_at))
      and not exists (select from ingests where organisation_id = ${organisation_id} and ingests.contact_id = person.id
        and not exists (select from erased where record_type = 'ingest' and record_id = ingests.id))
      and not exists (select from outcomes where organisation_id = ${organisation_id} and viewer_id = ${organisation_id}
        and outcomes.contact_id = person.id
        and not exists (select from erased where record_type = 'outcome_report' and record_id = outcomes.id))
      and not exists (select from outreach_people where organisation_id = ${organisation_id}
        and outreach_people.id = person.id
        and not exists (select from erased where record_type = 'outreach_person' and record_id = person.id
          and erased.erased_at >= outreach_people.updated_at))
      and not exists (select from message_news where organisation_id = ${organisation_id}
        and message_news.contact_id = person.id
        and not exists (select from erased where record_type = 'message_news' and record_id = news_id))
      and not exists (select from memberships where organisation_id = ${organisation_id} and customer_id = person.id)
      and not exists (select from complaints where organisation_id = ${organisation_id}
        and complaints.contact_id = person.id and (state = any (${unsettledStates})
          or coalesce((document ->> 'keep_until')::date >= ${now}::timestamptz::date, true)))
    ) as is_due from looked_at as person order by id`)
  return {
    people: rows.filter(({ is_due }) => is_due).map(({ id }) => id),
    after: rows.length === lookedAtOnce ? rows.at(-1)?.id : undefined,
  }
}
