import { z } from 'zod'
import { CancellationReason } from '#domain/policies/events.ts'
import { policy, unknownPolicy } from '#domain/policies/policy.ts'
import { Policy, renderPolicy } from '#domain/policies/record.ts'
import { OrganisationId, PolicyId } from '#domain/values.ts'
import { route, type Route } from '#infra/http/route.ts'
import { commandHandler, type Writer } from '../handle.ts'
import { operatorContext, operatorRoute } from '../operator.ts'

type Deps = {
  readonly writer: Writer
  readonly baseUrl: string
  /** The date where an organisation is. */
  readonly dateAt: (organisation_id: OrganisationId, now: string) => string
}

/** What the operator does about policies. */
export const policyAdminRoutes = ({ writer, baseUrl, dateAt }: Deps): Route[] => {
  const { handle, load } = commandHandler(writer, policy)

  return [
    route(
      {
        ...operatorRoute,
        method: 'post',
        address: '/admin/v1/organisations/:organisation_id/policies/:id/mandate',
        summary: 'Have the Direct Debit mandate made once more, after it was refused; else nothing changes',
        path: z.object({ organisation_id: OrganisationId, id: PolicyId }),
        answers: { 200: z.object({ data: Policy }) },
        errors: ['conflict'],
      },
      async ({ path: { organisation_id, id }, ...facts }) => {
        if ((await load(id))?.organisation_id !== organisation_id) throw unknownPolicy()
        const { state } = await handle(id, { type: 'RequestMandate' }, operatorContext(organisation_id, facts))
        if (!state) throw unknownPolicy()
        return { status: 200, body: { data: renderPolicy(state, baseUrl) } }
      },
    ),
    route(
      {
        ...operatorRoute,
        method: 'post',
        address: '/admin/v1/organisations/:organisation_id/policies/:id/cancellation',
        summary: 'Cancel a policy; within the cooling-off period all that was paid is to be given back',
        path: z.object({ organisation_id: OrganisationId, id: PolicyId }),
        body: z.object({
          reason: CancellationReason,
          note: z.string().max(500).nullish().describe('For the team; shown to nobody else.'),
        }),
        answers: {
          200: z.object({ data: z.object({ policy: Policy, refund_pence: z.int().describe('To be given back.') }) }),
        },
        errors: ['conflict'],
      },
      async ({ path: { organisation_id, id }, body: { reason, note }, ...facts }) => {
        if ((await load(id))?.organisation_id !== organisation_id) throw unknownPolicy()
        const { state } = await handle(
          id,
          { type: 'CancelPolicy', reason, note: note ?? null, today: dateAt(organisation_id, facts.now) },
          operatorContext(organisation_id, facts),
        )
        if (!state) throw unknownPolicy()
        const shown = renderPolicy(state, baseUrl)
        return { status: 200, body: { data: { policy: shown, refund_pence: state.refund_pence } } }
      },
    ),
  ]
}
