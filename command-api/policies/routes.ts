import { z } from 'zod'
import { CancellationReason } from '#domain/policies/events.ts'
import { requireNoMandate } from '#domain/policies/mandate.ts'
import { Policy, renderPolicy } from '#domain/policies/record.ts'
import type { PolicyState } from '#domain/policies/state.ts'
import type { OrganisationId } from '#domain/values.ts'
import type { BankCalendar } from '#domain/working-days.ts'
import { route, type Route } from '#infra/http/route.ts'
import { saidBy } from '../payments/provider-answers.ts'
import { DirectDebitInput } from '../direct-debit-input.ts'
import { GivenReason } from '../given-reason.ts'
import type { Writer } from '../writing/handle.ts'
import type { CheckMandate } from '../payments/check-mandate.ts'
import { teamContext, teamRoute } from '../operator.ts'
import type { ReplaceBankDetails } from '../payments/policy-mandates.ts'
import { makeAct, makePreview, policyAddress, policyPath, previewAnswer, previewing } from './act.ts'

type Deps = {
  readonly writer: Writer
  readonly baseUrl: string
  readonly calendar: BankCalendar
  readonly checkMandate: CheckMandate
  readonly replaceBankDetails: ReplaceBankDetails
  /** The date where an organisation is. */
  readonly dateAt: (organisation_id: OrganisationId, now: string) => string
}

const MandateRequest = z.object({
  direct_debit: DirectDebitInput.nullish().describe(
    'The account to collect from, where it is not the one that is known.',
  ),
})

const Cancellation = z.object({ reason: CancellationReason, note: GivenReason })

export const policyAdminRoutes = (deps: Deps): Route[] => {
  const { writer, baseUrl, checkMandate, replaceBankDetails, dateAt } = deps
  const act = makeAct(writer)
  const preview = makePreview(deps)

  return [
    route(
      {
        ...teamRoute('policies'),
        method: 'post',
        address: `${policyAddress}/mandate`,
        summary:
          'Have the Direct Debit mandate made once more, after it was refused or cancelled, also from other bank details; else nothing changes',
        path: policyPath,
        body: MandateRequest,
        answers: { 200: z.object({ data: Policy }) },
        errors: ['conflict', 'direct_debit_invalid', 'unavailable'],
      },
      async ({ path, body: { direct_debit }, ...facts }) => {
        const request = async (before: PolicyState) => {
          const context = teamContext(path.organisation_id, facts)
          const present = saidBy(await checkMandate(before, context)) ?? before
          if (!direct_debit) return { type: 'RequestMandate' } as const
          requireNoMandate(present)
          const bank_details_saved_at = await replaceBankDetails(present, direct_debit, context)
          return { type: 'RequestMandate', bank_details_saved_at } as const
        }
        return { status: 200, body: { data: renderPolicy(await act(path, request, facts), baseUrl) } }
      },
    ),
    route(
      {
        ...teamRoute('policies'),
        method: 'post',
        address: `${policyAddress}/cancellation`,
        summary: 'Cancel a policy; within the cooling-off period all that was paid is to be given back',
        path: policyPath,
        body: Cancellation,
        answers: {
          200: z.object({ data: z.object({ policy: Policy, refund_pence: z.int().describe('To be given back.') }) }),
        },
        errors: ['conflict'],
      },
      async ({ path, body: { reason, note }, ...facts }) => {
        const today = dateAt(path.organisation_id, facts.now)
        const state = await act(path, { type: 'CancelPolicy', reason, note, today }, facts)
        const shown = renderPolicy(state, baseUrl)
        return { status: 200, body: { data: { policy: shown, refund_pence: state.refund_pence } } }
      },
    ),
    route(
      {
        ...previewing(teamRoute('policies')),
        method: 'post',
        address: `${policyAddress}/mandate/preview`,
        summary: 'Show what another Direct Debit mandate would do to the money and cover of a policy; nothing changes',
        path: policyPath,
        body: MandateRequest,
        answers: previewAnswer,
        errors: ['conflict'],
      },
      async ({ path, body: { direct_debit }, ...facts }) => {
        const bank_details_saved_at = direct_debit ? facts.now : undefined
        return preview(
          path,
          { type: 'RequestMandate', ...(bank_details_saved_at !== undefined && { bank_details_saved_at }) },
          facts,
        )
      },
    ),
    route(
      {
        ...previewing(teamRoute('policies')),
        method: 'post',
        address: `${policyAddress}/cancellation/preview`,
        summary: 'Show what cancelling a policy would give back, write off and end; nothing changes',
        path: policyPath,
        body: Cancellation,
        answers: previewAnswer,
        errors: ['conflict'],
      },
      async ({ path, body: { reason, note }, ...facts }) => {
        const today = dateAt(path.organisation_id, facts.now)
        return preview(path, { type: 'CancelPolicy', reason, note, today }, facts)
      },
    ),
  ]
}
