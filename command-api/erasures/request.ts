import type { ErasureCommand } from '#domain/erasures/erasure.ts'
import { atRest } from '#domain/ingests/record.ts'
import { notFound } from '#domain/rejection.ts'
import type { CustomerId, OrganisationId } from '#domain/values.ts'
import type { Shown } from '#infra/consumers/until-shown.ts'
import { Problem } from '#infra/http/problem.ts'
import { findNamed, mostNamed } from '#infra/people/find-streams.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import type { Leads } from '../leads/live-leads.ts'
import { findHindrances, findSetAside, telling, untilShownAll } from './find-hindrances.ts'
import type { People } from './people.ts'

export type RequestDeps = {
  readonly pool: Database
  readonly people: People
  readonly leads: Pick<Leads, 'find'>
  readonly shown: Shown
}

type Person = { readonly organisation_id: OrganisationId; readonly contact_id: CustomerId }

/** All that an erasure depends on, as of now. Throws `not_found`. */
export const makeHeldOn =
  ({ pool, people, leads, shown }: RequestDeps) =>
  async (person: Person) => {
    const { organisation_id, contact_id } = person
    const record = await people.record(organisation_id, contact_id)
    if (!record) throw notFound('person')
    await untilShownAll(shown)
    if ((await findSetAside(pool, organisation_id, telling)) !== undefined)
      throw new Problem(
        'unavailable',
        'A record that may tell of this person is set aside by a read model. Resume it first: npm run projections -- status lists it.',
        { headers: { 'Retry-After': '60' } },
      )
    const lead = await leads.find(organisation_id, contact_id)
    const names = { ...record, external_id: lead?.record.marks.external_system_id ?? null }
    const [hindrances, named] = await Promise.all([
      findHindrances(pool, person),
      findNamed(pool, person, names, atRest),
    ])
    if (named.length > mostNamed)
      throw new Problem(
        'conflict',
        `More than ${mostNamed} held outcomes and leads name this person. Match or discard some of them first.`,
      )
    return { hindrances, named }
  }

/** The command that asks for the erasure of a person, from all that is known of them now. */
export const makeErasureRequest = (deps: RequestDeps) => {
  const heldOn = makeHeldOn(deps)

  return async (
    { organisation_id, contact_id }: Person,
    requested_by: string | null,
  ): Promise<Extract<ErasureCommand, { type: 'RequestErasure' }>> => {
    const { hindrances, named: streams } = await heldOn({ organisation_id, contact_id })
    return { type: 'RequestErasure', organisation_id, contact_id, requested_by, hindrances, streams }
  }
}
