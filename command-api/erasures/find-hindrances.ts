import { unsettled } from '#domain/claims/record.ts'
import { unsettledStates } from '#domain/complaints/record.ts'
import type { Hindrance } from '#domain/erasures/hindrances.ts'
import { inForce } from '#domain/policies/record.ts'
import type { CustomerId, OrganisationId } from '#domain/values.ts'
import { untilShown, type Shown } from '#infra/consumers/until-shown.ts'
import { subjectErased } from '#infra/crypto/erased.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { consumersBeside } from '#infra/read-models.ts'

type Person = { readonly organisation_id: OrganisationId; readonly contact_id: CustomerId }

/**
 * Categories that say whom a record is about: those for which a person must not be erased, and those that only their details
 * lead to.
 */
export const telling = [
  'application',
  'complaint',
  'customer',
  'ingest',
  'lead',
  'legal_hold',
  'policy',
  'membership',
  'outcomes',
  'outcome_report',
  'message_news',
  'outreach_person',
] as const

const readWithinMs = 10_000

/** Waits until the read models show all that was stored so far and tells of somebody. */
export const untilShownAll = async (shown: Shown): Promise<void> =>
  untilShown({ ...shown, withinMs: readWithinMs }, telling)

/**
 * A stream of these categories that a read model has set aside, so that it may tell of anybody of the organisation; undefined:
 * there is none. Whose it is may not be known, where an earlier version has set it aside. One
 * that nobody can read any more, because its person was erased, stays so for ever and tells of nobody else.
 */
export const findSetAside = async (
  pool: Database,
  organisation_id: OrganisationId,
  categories: readonly string[],
): Promise<string | undefined> => {
  const { rows } = await pool.query<{ readonly stream: string }>(sql`
    select stream from consumer_set_aside join consumer_checkpoint on name = consumer
    where (awaited or name = any (${[...consumersBeside.values()]})) and coalesce(organisation_id, ${organisation_id}) = ${organisation_id} and split_part(stream, '-', 1) = any (${categories})
      and position(${subjectErased} in coalesce(reason, '')) = 0
    order by set_aside_at limit 1`)
  return rows[0]?.stream
}

/** So many are named. */
const mostHindrances = 100

/**
 * The policies that need the person's details, as their first or second person: those in force, those sold just now, and those
 * with a claim that is not settled, or of which money is owed to somebody; complaints that are not closed; and legal holds on the person, on a record that is theirs, too, or
 * on whoever shares one with them, whose details would go with it.
 */
export const findHindrances = async (
  pool: Database,
  { organisation_id, contact_id }: Person,
): Promise<readonly Hindrance[]> => {
  const { rows } = await pool.query<{ readonly why: Hindrance['why']; readonly type: string; readonly id: string }>(sql`
    with shared as (
      select id, customer_id, partner_id, (document ->> 'policy_id')::uuid as policy_id from applications
      where organisation_id = ${organisation_id} and customer_id = ${contact_id}
      union
      select id, customer_id, partner_id, (document ->> 'policy_id')::uuid from applications
      where organisation_id = ${organisation_id} and partner_id = ${contact_id}),
    sold as (select distinct policy_id as id from shared),
    own as (
      select id, status, customer_id, (document #>> '{joint_customer,id}')::uuid as joint_id from policies
      where organisation_id = ${organisation_id} and customer_id = ${contact_id}
      union
      select id, status, customer_id, (document #>> '{joint_customer,id}')::uuid from policies
      where organisation_id = ${organisation_id} and id = any (array(select id from sold))
        and document #>> '{joint_customer,id}' = ${contact_id}::text)
    select 'legal_hold' as why, 'legal_hold' as type, id from legal_holds
    where organisation_id = ${organisation_id} and state = 'in_force' and (contact_id = ${contact_id}
      or document #>> '{record,id}' = any (array(select id::text from own union select id::text from shared))
      or (document ->> 'record' is null and contact_id = any (array(
        select customer_id from shared union select partner_id from shared union select customer_id from own
        union select joint_id from own))))
    union all
    select 'policy_in_force' as why, 'policy' as type, id from own where status = any (${inForce})
    union all
    select 'claim_not_settled', 'policy', id from own where exists (
      select from claims where claims.organisation_id = ${organisation_id} and claims.policy_id = own.id
        and claims.status = any (${unsettled}))
    union all
    select 'refund_owed', 'policy', id from own where exists (
      select from premiums where premiums.organisation_id = ${organisation_id} and premiums.policy_id = own.id
        and exists (select from json_array_elements(document -> 'refunds') as refund where refund ->> 'status' = 'owed'))
    union all
    select 'refund_owed', 'application', application_id from payments where payments.organisation_id = ${organisation_id}
      and payments.status = 'returning' and application_id = any (array(select id from shared))
    union all
    select 'complaint_not_closed', 'complaint', id from complaints where complaints.organisation_id = ${organisation_id}
      and complaints.contact_id = ${contact_id} and complaints.state = any (${unsettledStates})
    union all
    select 'policy_being_made', 'policy', id from sold where id is not null and not exists (
      select from policies where policies.organisation_id = ${organisation_id} and policies.id = sold.id)
    order by id, why desc limit ${mostHindrances}`)
  return rows.map(({ why, type, id }) => ({ why, record: { type, id } }))
}
