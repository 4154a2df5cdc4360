import { z } from 'zod'
import { CancellationReason } from '#domain/policies/events.ts'
import { Policy, renderPolicy } from '#domain/policies/record.ts'
import type { OrganisationId } from '#domain/values.ts'
import { route, type Route } from '#infra/http/route.ts'
import type { Writer } from '../handle.ts'
import { operatorRoute } from '../operator.ts'
import { makeAct, policyAddress, policyPath } from './act.ts'

type Deps = {
  readonly writer: Writer
  readonly baseUrl: string
  /** The date where an organisation is. */
  readonly dateAt: (organisation_id: OrganisationId, now: string) => string
}

/** What the operator does about policies. */
export const policyAdminRoutes = ({ writer, baseUrl, dateAt }: Deps): Route[] => {
  const act = makeAct(writer)

  return [
    route(
      {
        ...operatorRoute,
        method: 'post',
        address: `${policyAddress}/mandate`,
        summary: 'Have the Direct Debit mandate made once more, after it was refused; else nothing changes',
        path: policyPath,
        answers: { 200: z.object({ data: Policy }) },
        errors: ['conflict'],
      },
      async ({ path, ...facts }) => ({
        status: 200,
        body: { data: renderPolicy(await act(path, { type: 'RequestMandate' }, facts), baseUrl) },
      }),
    ),
    route(
      {
        ...operatorRoute,
        method: 'post',
        address: `${policyAddress}/cancellation`,
        summary: 'Cancel a policy; within the cooling-off period all that was paid is to be given back',
        path: policyPath,
        body: z.object({
          reason: CancellationReason,
          note: z.string().max(500).nullish().describe('For the team; shown to nobody else.'),
        }),
        answers: {
          200: z.object({ data: z.object({ policy: Policy, refund_pence: z.int().describe('To be given back.') }) }),
        },
        errors: ['conflict'],
      },
      async ({ path, body: { reason, note }, ...facts }) => {
        const today = dateAt(path.organisation_id, facts.now)
        const state = await act(path, { type: 'CancelPolicy', reason, note: note ?? null, today }, facts)
        const shown = renderPolicy(state, baseUrl)
        return { status: 200, body: { data: { policy: shown, refund_pence: state.refund_pence } } }
      },
    ),
  ]
}
