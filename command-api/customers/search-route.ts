import { z } from 'zod'
import { nameKey, type Customer } from '#domain/customers/record.ts'
import { findableText } from '#domain/invisible-characters.ts'
import { CalendarDate, CustomerId, OrganisationId } from '#domain/values.ts'
import { Problem } from '#infra/http/problem.ts'
import { auditRoute, route, teamRoute, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'
import type { makePeople } from './people.ts'

type Deps = {
  readonly pool: Database
  readonly people: Pick<ReturnType<typeof makePeople>, 'find'>
}

const text = z.string().trim().min(1).max(300).optional()

const Sought = z.object({
  email: text.transform((email) => email?.toLowerCase()),
  phone_number: text.describe('With its country code, as it is shown: `+442071838750`.'),
  first_name: text.describe('With last_name and dob.'),
  last_name: text,
  dob: CalendarDate.optional(),
  policy_number: text,
  external_id: text.describe('The id in another system of the organisation.'),
})
type Sought = z.output<typeof Sought>

const PersonFound = z
  .object({
    person_id: CustomerId,
    first_name: z.string().nullable(),
    last_name: z.string().nullable(),
    dob: z.string().nullable(),
    email: z.string().nullable(),
    phone_number: z.string().nullable(),
    postal_code: z.string().nullable(),
  })
  .meta({ id: 'PersonFound' })

const mostFound = 50

/** One way to look for somebody. */
const ways = [
  ['email'],
  ['phone_number'],
  ['policy_number'],
  ['external_id'],
  ['first_name', 'last_name', 'dob'],
] as const

const refuseUnclear = (sought: Sought): void => {
  const given = Object.entries(sought).flatMap(([name, value]) => (value === undefined ? [] : [name]))
  if (ways.some((way) => way.length === given.length && way.every((name) => given.includes(name)))) return
  const reason = 'give one of email, phone_number, policy_number and external_id, or first_name, last_name and dob'
  throw new Problem('validation_failed', `Say whom you look for: ${reason}.`, {
    fields: Object.fromEntries((given.length > 0 ? given : ['email']).map((name) => [name, reason])),
  })
}

const found = z.object({ data: z.array(PersonFound) })

const summary =
  'Find people by email address, telephone number, policy number, id in another system, or name and date of birth: up to 50'

/** Finding a person by what is known of them. It stands in the body, because addresses are logged. */
export const peopleSearchRoutes = (deps: Deps): readonly Route[] => {
  const search = async (organisation_id: OrganisationId, sought: Sought) => {
    refuseUnclear(sought)
    const { rows } = await deps.pool.query<{ readonly id: CustomerId; readonly document: Customer }>(
      await statementOf(deps, organisation_id, sought),
    )
    return { status: 200 as const, body: { data: rows.map(({ id, document }) => shown(id, document)) } }
  }
  const asked = { method: 'post', path: z.object({ organisation_id: OrganisationId }), body: Sought } as const
  return [
    route(
      {
        ...asked,
        tag: auditRoute.tag,
        access: { ...auditRoute.access, changesNothing: true },
        address: '/audit/v1/organisations/:organisation_id/people/search',
        summary,
        answers: { 200: found },
      },
      async ({ path: { organisation_id }, body }) => search(organisation_id, body),
    ),
    route(
      {
        ...asked,
        ...teamRoute('leads'),
        access: { ...teamRoute('leads').access, changesNothing: true, forAuditors: true },
        address: '/admin/v1/organisations/:organisation_id/people/search',
        summary: `${summary}, for whoever works with leads`,
        answers: { 200: found },
      },
      async ({ path: { organisation_id }, body }) => search(organisation_id, body),
    ),
  ]
}

const shown = (person_id: CustomerId, customer: Customer): z.input<typeof PersonFound> => {
  const { first_name, last_name, dob, email, phone_number, postal_code } = customer
  return { person_id, first_name, last_name, dob, email, phone_number, postal_code }
}

const statementOf = async (deps: Deps, organisation_id: OrganisationId, sought: Sought) => {
  const { email, phone_number, policy_number, external_id, first_name = null, last_name = null, dob } = sought
  if (email !== undefined)
    return sql`select id, document from customers
      where organisation_id = ${organisation_id} and email = ${email} order by id limit ${mostFound}`
  if (phone_number !== undefined)
    return sql`select id, document from customers
      where organisation_id = ${organisation_id} and phone_number = ${phone_number} order by id limit ${mostFound}`
  if (policy_number !== undefined)
    return sql`
      with named as (
        select customer_id::text as first, document #>> '{joint_customer,id}' as second from policies
        where organisation_id = ${organisation_id} and policy_number = ${policy_number.toUpperCase()})
      select id, document from customers
      where organisation_id = ${organisation_id} and id = any (array(
        select first::uuid from named union select second::uuid from named where second is not null)) order by id`
  if (external_id !== undefined) {
    const found = await byExternalId(deps, organisation_id, external_id)
    return sql`select id, document from customers
      where organisation_id = ${organisation_id} and id = any (${found}::uuid[]) order by id`
  }
  return sql`select id, document from customers
    where organisation_id = ${organisation_id} and name_key = ${nameKey({ first_name, last_name })} and dob = ${dob ?? null}
    order by id limit ${mostFound}`
}

/** As it was sent, it may be an id from before. */
const byExternalId = async (
  { people }: Deps,
  organisation_id: OrganisationId,
  value: string,
): Promise<readonly CustomerId[]> => {
  const found = new Set<CustomerId>()
  for (const spelling of new Set([value, findableText(value)])) {
    const id = await people.find({ organisation_id, kind: 'external_id', value: spelling })
    if (id) found.add(id)
  }
  return [...found]
}
