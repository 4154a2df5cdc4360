import { z } from 'zod'
import { ConsentEntry } from '#domain/customers/events.ts'
import { ConsentHeld } from '#domain/customers/record.ts'
import { CustomerId, OrganisationId, SentInstant } from '#domain/values.ts'
import { notFound } from '#domain/rejection.ts'
import { route, type Route } from '#infra/http/route.ts'
import { teamContext, teamRoute } from '../operator.ts'
import type { makePeople } from './people.ts'

type Deps = {
  readonly people: Pick<ReturnType<typeof makePeople>, 'handle' | 'record'>
}

/** Consent that a person gave or withdrew by telling the team. */
export const consentRoutes = ({ people }: Deps): Route[] => [
  route(
    {
      ...teamRoute('leads', 'policies'),
      method: 'post',
      address: '/admin/v1/organisations/:organisation_id/people/:contact_id/consent',
      summary: 'Record what a person said to being contacted, or that they withdraw it. It holds from now on',
      path: z.object({ organisation_id: OrganisationId, contact_id: CustomerId }),
      body: z.object({
        entries: z
          .array(ConsentEntry.omit({ basis: true }))
          .min(1)
          .max(30),
        method: z.string().trim().min(1).max(200).describe('How the person said so, for example `by phone`.'),
        wording: z.string().trim().min(1).max(5_000).nullish(),
        said_at: SentInstant.optional().describe(
          'Now by default, and at the latest. What was said later than this stands.',
        ),
      }),
      answers: { 200: z.object({ data: z.object({ contact_id: CustomerId, consent: z.array(ConsentHeld) }) }) },
    },
    async ({ path: { organisation_id, contact_id }, body: { entries, method, wording, said_at }, ...facts }) => {
      if (!(await people.record(organisation_id, contact_id))) throw notFound('person')
      const said = {
        entries: entries.map((entry) => ({ ...entry, basis: 'consent' as const })),
        method,
        wording: wording ?? null,
        // What is yet to be said would outlast what the person says next.
        said_at: said_at !== undefined && said_at < facts.now ? said_at : facts.now,
        source: { type: 'operator' as const, id: null },
      }
      await people.handle(contact_id, { type: 'RecordConsent', said }, teamContext(organisation_id, facts))
      const consent = (await people.record(organisation_id, contact_id))?.consent ?? []
      return { status: 200, body: { data: { contact_id, consent } } }
    },
  ),
]
