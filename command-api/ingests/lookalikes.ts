import { LRUCache } from 'lru-cache'
import type { CustomerDetails } from '#domain/customers/events.ts'
import { nameKey } from '#domain/customers/record.ts'
import type { Candidate } from '#domain/ingests/same-person.ts'
import type { CustomerId, OrganisationId } from '#domain/values.ts'
import { untilShown, type Shown } from '#infra/consumers/until-shown.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'

type Parts = {
  readonly pool: Database
  readonly shown: Shown
}

type Known = Pick<CustomerDetails, 'phone_number' | 'first_name' | 'last_name' | 'dob' | 'postal_code'>

/** More people than this are too many to choose from. */
const mostCandidates = 10
const remembered = 20_000
const readWithinMs = 10_000

/** The keys by which people are looked up, for one organisation. */
export const keysOf = (organisation_id: OrganisationId, known: Partial<Known>) => {
  const { phone_number = null, first_name = null, last_name = null, dob = null, postal_code = null } = known
  const name = nameKey({ first_name, last_name })
  const key = (...parts: readonly string[]) => JSON.stringify([organisation_id, ...parts])
  return {
    phone: phone_number === null ? [] : [key('phone', phone_number)],
    name: [
      ...(name !== null && dob !== null ? [key('dob', name, dob)] : []),
      ...(name !== null && postal_code !== null ? [key('postcode', name, postal_code)] : []),
    ],
  }
}

/**
 * People by what several of them may have: a phone number, a name. They are read from the read model of customers, and
 * those that this process has just written are remembered until it shows them. One process at a time resolves leads; one
 * that begins to, first waits until the read model shows what others wrote before it.
 */
export const makeLookalikes = ({ pool, shown }: Parts) => {
  const recent = new LRUCache<string, readonly CustomerId[]>({ max: remembered })
  const begun = new WeakMap<AbortSignal, Promise<void>>()

  const begin = (signal: AbortSignal): Promise<void> => {
    const known = begun.get(signal)
    if (known) return known
    recent.clear()
    const beginning = untilShown({ ...shown, withinMs: readWithinMs }, ['customer'])
    begun.set(signal, beginning)
    beginning.catch(() => begun.delete(signal))
    return beginning
  }

  const read = async (organisation_id: OrganisationId, known: Partial<Known>) => {
    const { phone_number = null, first_name = null, last_name = null, dob = null, postal_code = null } = known
    const name = nameKey({ first_name, last_name })
    const byPhone =
      phone_number === null
        ? undefined
        : sql`
      select id from customers where organisation_id = ${organisation_id} and phone_number = ${phone_number}
      order by id limit ${mostCandidates}`
    const byDob =
      name === null || dob === null
        ? undefined
        : sql`
      select id from customers where organisation_id = ${organisation_id} and name_key = ${name} and dob = ${dob}
      order by id limit ${mostCandidates}`
    const byPostcode =
      name === null || postal_code === null
        ? undefined
        : sql`
      select id from customers
      where organisation_id = ${organisation_id} and name_key = ${name} and postal_code = ${postal_code}
      order by id limit ${mostCandidates}`
    const idsOf = async (statement: ReturnType<typeof sql> | undefined): Promise<readonly CustomerId[]> =>
      statement ? (await pool.query<{ id: CustomerId }>(statement)).rows.map(({ id }) => id) : []
    const [phone, dated, placed] = await Promise.all([byPhone, byDob, byPostcode].map(idsOf))
    return { phone: phone ?? [], name: [...(dated ?? []), ...(placed ?? [])] }
  }

  return {
    /** People with the same phone number, and people with the same name with birthday or postcode. */
    find: async (
      organisation_id: OrganisationId,
      known: Partial<Known>,
      signal: AbortSignal,
      /** As they are now; undefined: there is nobody any more. */
      personOf: (id: CustomerId) => Promise<(Known & Pick<CustomerDetails, 'email'>) | undefined>,
    ): Promise<{ readonly phone: readonly Candidate[]; readonly name: readonly Candidate[] }> => {
      await begin(signal)
      const found = await read(organisation_id, known)
      const keys = keysOf(organisation_id, known)
      const candidates = async (ids: readonly CustomerId[], kind: 'phone' | 'name') => {
        const all = new Set([...ids, ...keys[kind].flatMap((key) => recent.get(key) ?? [])])
        const people = await Promise.all(
          [...all].map(async (contact_id) => ({ contact_id, person: await personOf(contact_id) })),
        )
        // What was told of somebody may only be proposed to the team, or be theirs no more.
        return people.flatMap(({ contact_id, person }) =>
          person && keysOf(organisation_id, person)[kind].some((key) => keys[kind].includes(key))
            ? [{ contact_id, email: person.email }]
            : [],
        )
      }
      const [phone, name] = await Promise.all([candidates(found.phone, 'phone'), candidates(found.name, 'name')])
      return { phone, name }
    },

    /** Somebody is known by these from now on. */
    remember: (organisation_id: OrganisationId, known: Partial<Known>, id: CustomerId): void => {
      const { phone, name } = keysOf(organisation_id, known)
      for (const key of [...phone, ...name]) {
        const before = recent.get(key) ?? []
        if (!before.includes(id)) recent.set(key, [...before, id].slice(-mostCandidates))
      }
    },
  }
}
export type Lookalikes = ReturnType<typeof makeLookalikes>
