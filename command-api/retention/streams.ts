import { categoryOf } from '#domain/event.ts'
import type { RetainedRecord } from '#domain/retention/events.ts'
import type { OrganisationId } from '#domain/values.ts'
import { keyIdOf } from '#infra/crypto/personal-data.ts'
import { subjectOfRecord } from '#infra/crypto/subjects.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { causesOf } from '#infra/people/find-streams.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'
import type { People } from './find-due.ts'

type Deps = {
  readonly pool: Database
  readonly eventLog: Pick<EventLog, 'read'>
  readonly storedLog: Pick<EventLog, 'read'>
}

type About = People & { readonly organisation_id: OrganisationId; readonly record: RetainedRecord }

/** The streams that have no key but those of their people. */
const ofOnePerson: readonly string[] = ['lead', 'outcomes', 'outreach_person', 'message_news']

/** Events of other systems that led to a record are told in it again. */
const causedBy = async (eventLog: Deps['eventLog'], stream: string): Promise<readonly string[]> =>
  [...(await causesOf(eventLog, stream)).causes].filter((cause) => categoryOf(cause) === 'inbound_event')

/** The streams that tell of a record, all of which is read again once it is erased. */
export const streamsOf = async (
  { pool, eventLog }: Deps,
  { organisation_id, record: { type, id } }: About,
): Promise<readonly string[]> => {
  switch (type) {
    case 'lead':
      return [`lead-${id}`, `outcomes-${id}`]
    case 'ingest':
    case 'outcome_report':
      return [`${type}-${id}`, ...(await causedBy(eventLog, `${type}-${id}`))]
    case 'policy': {
      const { rows } = await pool.query<{ readonly application_id: string }>(
        sql`select application_id from policies where organisation_id = ${organisation_id} and id = ${id}`,
      )
      return [`policy-${id}`, ...rows.map(({ application_id }) => `application-${application_id}`)]
    }
    case 'claim': {
      const { rows } = await pool.query<{ readonly policy_id: string }>(
        sql`select policy_id from claims where organisation_id = ${organisation_id} and id = ${id}`,
      )
      return rows.map(({ policy_id }) => `policy-${policy_id}`)
    }
    case 'application':
    case 'outreach_person':
    case 'message_news':
      return [`${type}-${id}`]
  }
}

/** The last revision of each of these streams. */
export const revisionsOf = (
  { storedLog }: Pick<Deps, 'storedLog'>,
  streams: readonly string[],
): Promise<readonly number[]> =>
  Promise.all(
    streams.map(
      async (stream) => (await storedLog.read(stream, { direction: 'backwards', limit: 1 }))[0]?.revision ?? -1,
    ),
  )

/** The subjects of the keys under which a record is sealed, and nothing else: never that of a person. */
export const subjectsOf = (
  { record: { type, id }, contact_id, second_contact_id }: About,
  streams: readonly string[],
): readonly string[] => {
  const people = [contact_id, second_contact_id].filter((person) => person !== null)
  const part = type === 'claim' ? `claim-${id}` : null
  return streams.flatMap((stream) => {
    const ofPeople = people.map((person) => subjectOfRecord(stream, person, part)).filter((each) => each !== undefined)
    return part !== null || ofOnePerson.includes(categoryOf(stream)) ? ofPeople : [stream, ...ofPeople]
  })
}

/**
 * The subjects of the keys that the events of a record name, below whichever person: the email address of an application may have been
 * another's before.
 */
export const subjectsIn = async (
  { pool, storedLog }: Pick<Deps, 'pool' | 'storedLog'>,
  { organisation_id, record: { type, id } }: About,
  streams: readonly string[],
): Promise<readonly string[]> => {
  const found = new Set<string>()
  for (const stream of streams) {
    const part = type === 'claim' ? `${stream}/claim-${id}` : stream
    for (let from = 0; ; from += pageSize) {
      const page = await storedLog.read(stream, { from, limit: pageSize })
      const keys = [...new Set(page.map(keyIdOf))].filter((each) => each !== undefined)
      const { rows } = await pool.query<{ readonly subject: string }>(sql`
        select subject from data_key where organisation_id = ${organisation_id} and id = any (${keys}::uuid[])
          and subject ~ '^person:[^/]+/' and split_part(substring(subject from '/(.*)$'), '#', 1) = ${part}`)
      for (const { subject } of rows) found.add(subject.replace(/#\d+$/, ''))
      if (page.length < pageSize) break
    }
  }
  return [...found]
}

const pageSize = 500

/** True where a version before this one has sealed a part of a record under the key of a person, which stays. */
export const isKeptWithPerson = async (
  { pool, storedLog }: Deps,
  { record }: About,
  streams: readonly string[],
): Promise<boolean> => {
  for (const stream of streams) {
    for (let from = 0; ; from += pageSize) {
      const page = await storedLog.read(stream, { from, limit: pageSize })
      const own = record.type === 'claim' ? page.filter(({ data }) => data['claim_id'] === record.id) : page
      const keys = [...new Set(own.map(keyIdOf))].filter((id) => id !== undefined)
      const { rows } = await pool.query(sql`
        select from data_key where id = any (${keys}::uuid[]) and coalesce(erasing_since, erased_at) is null
          and subject ~ '^person:[^/]+$' limit 1`)
      if (rows.length > 0) return true
      if (page.length < pageSize) break
    }
  }
  return false
}
