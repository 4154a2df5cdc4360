import type { CustomerDetails } from '#domain/customers/events.ts'
import { IngestContent } from '#domain/ingests/events.ts'
import { personSent, type IngestRecord, type NamedPerson } from '#domain/ingests/record.ts'
import type { CustomerId, OrganisationId } from '#domain/values.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'

type Deps = { readonly pool: Database; readonly eventLog: Pick<EventLog, 'read'> }

const known = ({ title, first_name, last_name, email, phone_number }: CustomerDetails): NamedPerson => ({
  name: [title, first_name, last_name].filter(Boolean).join(' ') || null,
  email,
  phone_number,
})

const peopleOf = async (pool: Database, organisation_id: OrganisationId, ids: readonly CustomerId[]) => {
  if (ids.length === 0) return new Map<CustomerId, NamedPerson>()
  const { rows } = await pool.query<{ readonly id: CustomerId; readonly document: CustomerDetails }>(sql`
    select id, document from customers where organisation_id = ${organisation_id} and id = any (${[...ids]}::uuid[])`)
  return new Map(rows.map(({ id, document }) => [id, known(document)]))
}

/** The log alone has what was sent; after an erasure, nothing of it. */
const sentIn = async ({ eventLog }: Deps, { id }: IngestRecord): Promise<NamedPerson | null> => {
  const [received] = await eventLog.read(`ingest-${id}`, { limit: 1 })
  const content = IngestContent.safeParse(received?.data['content'])
  return content.success ? personSent(content.data) : null
}

/** Adds to each of these ingests whom it names: its person, or what was sent of somebody who is none yet. */
export const withNamedPeople = async <Ingest extends IngestRecord>(
  deps: Deps,
  organisation_id: OrganisationId,
  ingests: readonly Ingest[],
): Promise<readonly (Ingest & { readonly person: NamedPerson | null })[]> => {
  const ids = ingests.flatMap(({ contact_id }) => contact_id ?? [])
  const people = await peopleOf(deps.pool, organisation_id, ids)
  return Promise.all(
    ingests.map(async (ingest) => {
      const person = ingest.contact_id ? people.get(ingest.contact_id) : undefined
      return { ...ingest, person: person ?? (await sentIn(deps, ingest)) }
    }),
  )
}
