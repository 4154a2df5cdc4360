import { z } from 'zod'
import { LeadRecord } from '#domain/leads/record.ts'
import type { Pipelines } from '#domain/pipeline/record.ts'
import { CustomerId, OrganisationId } from '#domain/values.ts'
import { notFound } from '#infra/http/problem.ts'
import { route, type Route } from '#infra/http/route.ts'
import type { Leads } from '../live-leads.ts'
import { operatorContext, operatorRoute, refuseUnknownOrganisation, type Organisations } from '../operator.ts'
import { commandOf, LeadAct } from './inputs.ts'

type Deps = { readonly leads: Leads; readonly pipelines: Pipelines; readonly directory: Organisations }

/** What the team does with a lead. */
export const leadAdminRoutes = ({ leads, pipelines, directory }: Deps): Route[] => [
  route(
    {
      ...operatorRoute,
      method: 'post',
      address: '/admin/v1/organisations/:organisation_id/leads/:contact_id/acts',
      summary: 'Work a lead: one or several acts, all of them or none. What is already so changes nothing',
      path: z.object({ organisation_id: OrganisationId, contact_id: CustomerId }),
      body: z.object({
        acts: z.array(LeadAct).min(1).max(50),
        by: z.string().trim().min(1).max(100).nullish().describe('The member of the team who does it.'),
      }),
      answers: { 200: z.object({ data: LeadRecord }) },
      errors: ['invalid_transition'],
    },
    async ({ path: { organisation_id, contact_id }, body: { acts, by = null }, ...facts }) => {
      refuseUnknownOrganisation(directory, organisation_id)
      if (!(await leads.find(organisation_id, contact_id))) throw notFound('lead')
      const pipeline = pipelines(organisation_id)
      const { state } = await leads.handle(
        {
          contact_id,
          acts: acts.map((act) => commandOf(act, pipeline, facts.now)),
          by: { type: 'user', name: by },
        },
        operatorContext(organisation_id, facts),
      )
      if (!state?.record) throw notFound('lead')
      return { status: 200, body: { data: state.record } }
    },
  ),
]
