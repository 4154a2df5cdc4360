import { z } from 'zod'
import { erasure } from '#domain/erasures/erasure.ts'
import { ErasurePreview, previewErasure } from '#domain/erasures/hindrances.ts'
import { Erasure } from '#domain/erasures/record.ts'
import { atRest } from '#domain/ingests/record.ts'
import { CustomerId, OrganisationId } from '#domain/values.ts'
import { notFound } from '#domain/rejection.ts'
import type { Shown } from '#infra/consumers/until-shown.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { Problem } from '#infra/http/problem.ts'
import { route, type Route } from '#infra/http/route.ts'
import { findNamed, findStreams, mostNamed } from '#infra/people/find-streams.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import type { Leads } from '../leads/live-leads.ts'
import { impersonalRoute, teamContext, teamRoute } from '../operator.ts'
import { findHindrances, findSetAside, telling, untilShownAll } from './find-hindrances.ts'
import type { People } from './people.ts'

type Deps = {
  readonly writer: Writer
  readonly pool: Database
  readonly eventLog: Pick<EventLog, 'read'>
  readonly people: People
  readonly leads: Pick<Leads, 'find'>
  readonly shown: Shown
}

type PersonInPath = { readonly organisation_id: OrganisationId; readonly contact_id: CustomerId }

const path = z.object({ organisation_id: OrganisationId, contact_id: CustomerId })

/** Erasing a person, for ever. */
export const erasureRoutes = ({ writer, pool, eventLog, people, leads, shown }: Deps): Route[] => {
  const { handle, load } = commandHandler(writer, erasure)

  /** All that an erasure depends on, as of now. */
  const heldOn = async (person: PersonInPath) => {
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

  return [
    route(
      {
        ...impersonalRoute('owner', 'policies'),
        method: 'get',
        address: '/admin/v1/organisations/:organisation_id/people/:contact_id/erasure_preview',
        summary: 'Show what an erasure of a person would take away, what would stay, and what is in its way',
        path,
        errors: ['conflict'],
        answers: { 200: z.object({ data: ErasurePreview }) },
      },
      async ({ path: person }) => {
        const { contact_id } = person
        if ((await load(contact_id))?.record.organisation_id === person.organisation_id)
          throw new Problem('conflict', 'The erasure of this person was asked for already. Look at the erasure itself.')
        const { hindrances, named } = await heldOn(person)
        const { streams } = await findStreams({ pool, eventLog }, person, named)
        return { status: 200, body: { data: previewErasure({ contact_id, hindrances, streams }) } }
      },
    ),
    route(
      {
        ...teamRoute('owner', 'policies'),
        method: 'post',
        address: '/admin/v1/organisations/:organisation_id/people/:contact_id/erasure',
        summary: 'Erase a person for ever: nothing that tells of them can be read any more, by nobody',
        path,
        errors: ['conflict'],
        answers: { 202: z.object({ data: Erasure }) },
      },
      async ({ path: person, ...facts }) => {
        const { organisation_id, contact_id } = person
        const begun = await load(contact_id)
        if (begun?.record.organisation_id === organisation_id) return { status: 202, body: { data: begun.record } }
        const { hindrances, named: streams } = await heldOn(person)
        const context = teamContext(organisation_id, facts)
        const requested = { ...person, requested_by: context.actor.id, hindrances, streams }
        const { state } = await handle(contact_id, { type: 'RequestErasure', ...requested }, context)
        if (!state) throw notFound('person')
        return { status: 202, body: { data: state.record } }
      },
    ),
  ]
}
