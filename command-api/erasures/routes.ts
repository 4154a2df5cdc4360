import { z } from 'zod'
import { erasure } from '#domain/erasures/erasure.ts'
import { Erasure } from '#domain/erasures/record.ts'
import { CustomerId, OrganisationId } from '#domain/values.ts'
import { notFound } from '#domain/rejection.ts'
import type { Shown } from '#infra/consumers/until-shown.ts'
import { Problem } from '#infra/http/problem.ts'
import { route, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import type { Leads } from '../leads/live-leads.ts'
import { teamContext, teamRoute } from '../operator.ts'
import { countPoliciesInForce, findNamed, findSetAside, mostNamed, telling, untilShownAll } from './find-streams.ts'
import type { People } from './people.ts'

type Deps = {
  readonly writer: Writer
  readonly pool: Database
  readonly people: People
  readonly leads: Pick<Leads, 'find'>
  readonly shown: Shown
}

/** Erasing a person, for ever. */
export const erasureRoutes = ({ writer, pool, people, leads, shown }: Deps): Route[] => {
  const { handle, load } = commandHandler(writer, erasure)

  return [
    route(
      {
        ...teamRoute('owner', 'policies'),
        method: 'post',
        address: '/admin/v1/organisations/:organisation_id/people/:contact_id/erasure',
        summary: 'Erase a person for ever: nothing that tells of them can be read any more, by nobody',
        path: z.object({ organisation_id: OrganisationId, contact_id: CustomerId }),
        errors: ['conflict'],
        answers: { 202: z.object({ data: Erasure }) },
      },
      async ({ path, ...facts }) => {
        const { organisation_id, contact_id } = path
        const begun = await load(contact_id)
        if (begun?.record.organisation_id === organisation_id) return { status: 202, body: { data: begun.record } }
        const person = await people.record(organisation_id, contact_id)
        if (!person) throw notFound('person')
        await untilShownAll(shown)
        if ((await findSetAside(pool, organisation_id, telling)) !== undefined)
          throw new Problem(
            'unavailable',
            'A record that may tell of this person is set aside by a read model. Resume it first: npm run projections -- status lists it.',
            { headers: { 'Retry-After': '60' } },
          )
        const lead = await leads.find(organisation_id, contact_id)
        const names = { ...person, external_id: lead?.record.marks.external_system_id ?? null }
        const [policies, streams] = await Promise.all([countPoliciesInForce(pool, path), findNamed(pool, path, names)])
        if (streams.length > mostNamed)
          throw new Problem(
            'conflict',
            `More than ${mostNamed} held outcomes and leads name this person. Match or discard some of them first.`,
          )
        const context = teamContext(organisation_id, facts)
        const requested = { ...path, requested_by: context.actor.id, policies, streams }
        const { state } = await handle(contact_id, { type: 'RequestErasure', ...requested }, context)
        if (!state) throw notFound('person')
        return { status: 202, body: { data: state.record } }
      },
    ),
  ]
}
