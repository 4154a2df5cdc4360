import { z } from 'zod'
import { Pipeline } from '#domain/pipeline/events.ts'
import type { Pipelines } from '#domain/pipeline/record.ts'
import { OrganisationId } from '#domain/values.ts'
import { route, type Route } from '#infra/http/route.ts'
import { teamRoute } from '../operator.ts'

type Deps = { readonly pipelines: Pipelines }

/** Reference data for working leads: the ids of the team's members, and the stages and fields that there are. */
export const pipelineRoute = ({ pipelines }: Deps): Route =>
  route(
    {
      ...teamRoute('owner', 'leads'),
      method: 'get',
      address: '/admin/v1/organisations/:organisation_id/pipeline',
      summary: 'Show how an organisation works its leads: stages, team, custom fields, scores, grades and deadlines',
      path: z.object({ organisation_id: OrganisationId }),
      answers: { 200: z.object({ data: Pipeline }) },
    },
    async ({ path: { organisation_id } }) => {
      return { status: 200, body: { data: pipelines(organisation_id) } }
    },
  )
