import type { Customer } from '#domain/customers/record.ts'
import { atRest } from '#domain/ingests/record.ts'
import type { LeadRecord } from '#domain/leads/record.ts'
import type { CustomerId, OrganisationId } from '#domain/values.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { findNamed, findStreams } from '#infra/people/find-streams.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'

export type Person = { readonly organisation_id: OrganisationId; readonly person_id: CustomerId }

/**
 * The records that tell of a person, in the order of their names, and those whose own keys would go with the person's, but for leads
 * and outcomes that have only their details: an email may be another's, too.
 */
export type Held = { readonly streams: readonly string[]; readonly sealed: ReadonlySet<string> }

type Deps = { readonly pool: Database; readonly eventLog: Pick<EventLog, 'read'> }

/** Finds the records of a person as an erasure does, and those that the list of all events names besides. */
export const findHeld = async (
  { pool, eventLog }: Deps,
  { organisation_id, person_id: contact_id }: Person,
): Promise<Held | undefined> => {
  const { rows } = await pool.query<{ readonly customer: Customer; readonly lead: LeadRecord | null }>(sql`
    select customers.document as customer, lead_records.document as lead
    from customers left join lead_records
      on lead_records.organisation_id = customers.organisation_id and lead_records.contact_id = customers.id
    where customers.organisation_id = ${organisation_id} and customers.id = ${contact_id}`)
  const [row] = rows
  if (!row) return undefined
  const person = { organisation_id, contact_id }
  const names = { ...row.customer, external_id: row.lead?.marks.external_system_id ?? null }
  const [named, recorded] = await Promise.all([
    findNamed(pool, person, names, atRest),
    pool.query<{ readonly stream: string }>(sql`
      select stream from recorded_events where organisation_id = ${organisation_id} and person_id = ${contact_id}
      union
      select stream from recorded_events where organisation_id = ${organisation_id} and second_person_id = ${contact_id}`),
  ])
  const found = await findStreams({ pool, eventLog }, person, named)
  const streams = new Set([...found.streams, ...recorded.rows.map(({ stream }) => stream)])
  const mayBeOfAnother = new Set(found.byDetails)
  return { streams: [...streams].toSorted(), sealed: new Set(found.sealed.filter((each) => !mayBeOfAnother.has(each))) }
}
