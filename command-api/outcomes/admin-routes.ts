import { z } from 'zod'
import { Outcome } from '#domain/outcomes/record.ts'
import { CustomerId, OrganisationId } from '#domain/values.ts'
import { route, type Route } from '#infra/http/route.ts'
import { By, namedBy, teamContext, teamRoute } from '../operator.ts'
import { leadInputOf, namingLeadAs, OutcomeInput, readReference } from './inputs.ts'
import type { Reporter } from './outcome-streams.ts'
import { makeOutcomes } from './outcomes.ts'
import { Held, readInput, type OutcomeRoutesDeps } from './routes.ts'

const address = '/admin/v1/organisations/:organisation_id'
const HeldPath = z.object({ organisation_id: OrganisationId, outcome_id: z.uuid().toLowerCase() })

const operatorOf = (organisation_id: OrganisationId, name: string | null): Reporter => ({
  organisation_id,
  api_application_id: null,
  source: 'manual',
  by: { type: 'user', name },
  sentBy: undefined,
})

/** The team's routes for outcomes that are held, and for mistaken ones. */
export const outcomeAdminRoutes = (deps: OutcomeRoutesDeps): Route[] => {
  const outcomes = makeOutcomes(deps)

  return [
    route(
      {
        ...teamRoute('leads'),
        method: 'post',
        address: `${address}/held_outcomes/:outcome_id/match`,
        summary: 'Say which lead a held outcome is about; it is then recorded',
        path: HeldPath,
        body: z.object({ contact_id: CustomerId, by: By }),
        answers: { 200: z.object({ data: Outcome }) },
        errors: ['conflict', 'not_repeatable'],
      },
      async ({ path: { organisation_id, outcome_id }, body: { contact_id, by }, ...facts }) => {
        const operator = operatorOf(organisation_id, namedBy(facts, by))
        const context = teamContext(organisation_id, facts)
        const data = await namingLeadAs('contact_id', async () =>
          outcomes.match(operator, outcome_id, contact_id, context),
        )
        return { status: 200, body: { data } }
      },
    ),
    route(
      {
        ...teamRoute('leads'),
        method: 'post',
        address: `${address}/held_outcomes/:outcome_id/correct`,
        summary:
          'Say what a held outcome really is, in place of what was sent; it is then recorded, or held for its lead',
        path: HeldPath,
        body: OutcomeInput.omit({ event_id: true }).extend({ by: By }),
        answers: { 200: z.object({ data: Outcome }), 202: z.object({ data: Held }) },
        errors: ['conflict', 'not_repeatable'],
      },
      async ({ path: { organisation_id, outcome_id }, body: { by, ...input }, ...facts }) => {
        const { report } = readInput(deps, organisation_id, input, facts.now)
        const lead = readReference(input)
        const context = teamContext(organisation_id, facts)
        const corrected = await namingLeadAs(leadInputOf(input), async () =>
          outcomes.correct(operatorOf(organisation_id, namedBy(facts, by)), outcome_id, { report, lead }, context),
        )
        if ('recorded' in corrected) return { status: 200, body: { data: corrected.recorded } }
        const { id, held: reason } = corrected
        return { status: 202, body: { data: { id, status: 'held', reason, event_id: null } } }
      },
    ),
    route(
      {
        ...teamRoute('leads'),
        method: 'post',
        address: `${address}/held_outcomes/:outcome_id/discard`,
        summary: 'Discard a held outcome: it is about no lead',
        path: HeldPath,
        body: z.object({ by: By }),
        answers: { 200: z.object({ data: z.object({ id: z.uuid(), discarded: z.literal(true) }) }) },
        errors: ['conflict'],
      },
      async ({ path: { organisation_id, outcome_id: id }, body: { by }, ...facts }) => {
        await outcomes.discard(operatorOf(organisation_id, namedBy(facts, by)), id, teamContext(organisation_id, facts))
        return { status: 200, body: { data: { id, discarded: true } } }
      },
    ),
    route(
      {
        ...teamRoute('leads'),
        method: 'post',
        address: `${address}/outcomes/:outcome_id/reverse`,
        summary: 'Reverse an outcome, whoever reported it',
        path: HeldPath,
        body: z.object({ note: z.string().trim().max(500).nullish(), by: By }),
        answers: { 200: z.object({ data: Outcome }) },
        errors: ['already_reversed'],
      },
      async ({ path: { organisation_id, outcome_id }, body: { note = null, by }, ...facts }) => {
        const operator = operatorOf(organisation_id, namedBy(facts, by))
        const context = teamContext(organisation_id, facts)
        return { status: 200, body: { data: await outcomes.reverse(operator, outcome_id, note, context) } }
      },
    ),
  ]
}
