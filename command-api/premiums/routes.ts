import { z } from 'zod'
import { premiumOf } from '#domain/premiums/premium-of.ts'
import { paymentOf } from '#domain/premiums/refund-payment.ts'
import { Policy, renderPolicy } from '#domain/policies/record.ts'
import type { PolicyState } from '#domain/policies/state.ts'
import { PremiumId, PremiumMethod, PremiumRefundId } from '#domain/premiums/events.ts'
import { Premium, PremiumRefund } from '#domain/premiums/record.ts'
import type { OrganisationId } from '#domain/values.ts'
import type { BankCalendar } from '#domain/working-days.ts'
import { derivedId, newId } from '#infra/ids.ts'
import { route, type Route } from '#infra/http/route.ts'
import { GivenReason, WithReason } from '../given-reason.ts'
import type { Writer } from '../writing/handle.ts'
import { keyInHeader, onceForKey } from '../idempotency-key.ts'
import { teamRoute } from '../operator.ts'
import { closingOf, RefundClosing } from '../payments/refund-closing.ts'
import { mayWait } from '../waiting.ts'
import { makeAct, makePreview, policyAddress, policyPath, previewAnswer, previewing } from '../policies/act.ts'

type Deps = {
  readonly writer: Writer
  readonly calendar: BankCalendar
  readonly baseUrl: string
  /** The date where an organisation is. */
  readonly dateAt: (organisation_id: OrganisationId, now: string) => string
}

const premiumPath = policyPath.extend({ premium_id: PremiumId })

type HowMuch = { readonly refund_pence?: number | undefined; readonly all?: true | undefined }

const saysHowMuch = ({ refund_pence, all }: HowMuch): boolean => (refund_pence === undefined) !== (all === undefined)

/** Each of the two is named, beside whatever else is wrong. */
const unlessOne = (input: keyof HowMuch) => ({
  path: [input],
  error: 'send one of refund_pence and all',
  when: ({ value }: z.core.ParsePayload) => typeof value === 'object' && value !== null,
})

const RefundRequest = z
  .object({
    refund_pence: z.int().min(1).optional().describe('So much of it.'),
    all: z.literal(true).optional().describe('All that is left of it.'),
    reason: GivenReason,
  })
  .refine(saysHowMuch, unlessOne('refund_pence'))
  .refine(saysHowMuch, unlessOne('all'))
  .meta({ oneOf: [{ required: ['refund_pence'] }, { required: ['all'] }] })

const RefundedPremium = Premium.extend({
  refund: PremiumRefund.pick({ refund_id: true, refund_pence: true, status: true })
    .extend({
      method: PremiumMethod.describe('How what it comes out of was paid.'),
      card_payment_id: z.uuid().nullable().describe('The card payment that gives it back; null: a debit does.'),
      payment_intent_id: z
        .string()
        .nullable()
        .describe('The debit that gives it back, as the payment provider calls it; null: the card payment does.'),
    })
    .describe('What is given back by this request, and by others with its Idempotency-Key.'),
}).meta({ id: 'RefundedPremium' })

const refundedPremium = (state: PolicyState, premium_id: PremiumId, id: PremiumRefundId) => {
  const premium = premiumOf(state, premium_id)
  const refund = premium.refunds.find(({ refund_id }) => refund_id === id)
  if (!refund) throw new Error(`Refund ${id} was made and does not exist.`)
  return RefundedPremium.parse({ ...premium, refund: { ...refund, ...paymentOf(state, premium, refund) } })
}

/** The operator's routes for premiums, and for cover that depends on them. */
export const premiumRoutes = ({ writer, calendar, baseUrl, dateAt }: Deps): Route[] => {
  const act = makeAct(writer)
  const preview = makePreview({ writer, calendar })
  const actOn = async (
    path: z.output<typeof premiumPath>,
    command: Parameters<typeof act>[1],
    facts: Parameters<typeof act>[2],
  ) => {
    const premium = premiumOf(await act(path, command, facts), path.premium_id)
    return { status: 200 as const, body: { data: Premium.parse(premium) } }
  }
  const shownPolicy = (state: PolicyState) => ({ status: 200 as const, body: { data: renderPolicy(state, baseUrl) } })
  const premiumAnswers = { 200: z.object({ data: Premium }) }
  const policyAnswers = { 200: z.object({ data: Policy }) }

  return [
    ...previewRoutes(preview, calendar),
    route(
      {
        ...teamRoute('finance'),
        method: 'post',
        address: `${policyAddress}/premiums/:premium_id/retry`,
        summary: 'Have a premium that has failed collected again now; else nothing changes',
        path: premiumPath,
        body: WithReason,
        answers: premiumAnswers,
        errors: ['conflict'],
      },
      async ({ path, body: { reason: note }, ...facts }) => {
        const { premium_id } = path
        return actOn(path, { type: 'RetryPremium', premium_id, by: 'operator', note, now: facts.now }, facts)
      },
    ),
    route(
      {
        ...teamRoute('finance'),
        method: 'post',
        address: `${policyAddress}/premiums/:premium_id/refund`,
        summary: 'Give a collected premium back: an amount, or all that is left of it. It answers of which payment',
        path: premiumPath,
        headers: { 'Idempotency-Key': onceForKey('refund') },
        body: RefundRequest,
        answers: { 200: z.object({ data: RefundedPremium }), ...mayWait },
        errors: ['conflict', 'idempotency_key_conflict'],
      },
      async ({ path, body, ...facts }) => {
        const { premium_id } = path
        const key = keyInHeader(facts)
        const refund_id = PremiumRefundId.parse(
          key === undefined ? newId() : derivedId('premium_refund', premium_id, key),
        )
        const { refund_pence = null, reason: note } = body
        const state = await act(path, { type: 'RefundPremium', premium_id, refund_id, refund_pence, note }, facts)
        return { status: 200, body: { data: refundedPremium(state, premium_id, refund_id) } }
      },
    ),
    route(
      {
        ...teamRoute('finance'),
        method: 'post',
        address: `${policyAddress}/premiums/:premium_id/refunds/:refund_id/retry`,
        summary: 'Have a refund tried once more, after it was left to the team; else nothing changes',
        path: premiumPath.extend({ refund_id: PremiumRefundId }),
        body: WithReason,
        answers: premiumAnswers,
        errors: ['conflict'],
      },
      async ({ path, body: { reason: note }, ...facts }) => {
        const { premium_id, refund_id } = path
        return actOn(path, { type: 'RequestRefund', premium_id, refund_id, note }, facts)
      },
    ),
    route(
      {
        ...teamRoute('finance'),
        method: 'post',
        address: `${policyAddress}/premiums/:premium_id/refunds/:refund_id/closure`,
        summary:
          'Close a refund that was left to the team: the customer was paid in another way, or it is owed no more',
        path: premiumPath.extend({ refund_id: PremiumRefundId }),
        body: RefundClosing,
        answers: premiumAnswers,
        errors: ['conflict'],
      },
      async ({ path, body, ...facts }) => {
        const { organisation_id, premium_id, refund_id } = path
        const closing = closingOf(body, dateAt(organisation_id, facts.now))
        return actOn(path, { type: 'CloseRefund', premium_id, refund_id, closing }, facts)
      },
    ),
    route(
      {
        ...teamRoute('finance'),
        method: 'post',
        address: `${policyAddress}/premiums/:premium_id/write_off`,
        summary: 'Ask for a premium no more: one that has failed, or cannot be asked for (no mandate, no account)',
        path: premiumPath,
        body: WithReason,
        answers: premiumAnswers,
        errors: ['conflict'],
      },
      async ({ path, body: { reason: note }, ...facts }) => {
        const { premium_id } = path
        return actOn(path, { type: 'WriteOffPremium', premium_id, reason: 'operator', note }, facts)
      },
    ),
    route(
      {
        ...teamRoute('policies'),
        method: 'post',
        address: `${policyAddress}/suspension`,
        summary: 'Suspend the cover of an active policy',
        path: policyPath,
        answers: policyAnswers,
        errors: ['conflict'],
      },
      async ({ path, ...facts }) => shownPolicy(await act(path, { type: 'SuspendPolicy' }, facts)),
    ),
    route(
      {
        ...teamRoute('policies'),
        method: 'post',
        address: `${policyAddress}/reinstatement`,
        summary: 'Reinstate a policy that is suspended, or has lapsed not long ago',
        path: policyPath,
        answers: policyAnswers,
        errors: ['conflict'],
      },
      async ({ path, ...facts }) =>
        shownPolicy(await act(path, { type: 'ReinstatePolicy', now: facts.now, calendar }, facts)),
    ),
  ]
}

type Preview = ReturnType<typeof makePreview>

/** The effect of a refund, a suspension and a reinstatement, without any of them. */
const previewRoutes = (preview: Preview, calendar: BankCalendar): Route[] => [
  route(
    {
      ...previewing(teamRoute('finance')),
      method: 'post',
      address: `${policyAddress}/premiums/:premium_id/refund/preview`,
      summary: 'Show what would be given back of a premium; nothing changes',
      path: premiumPath,
      body: RefundRequest,
      answers: previewAnswer,
      errors: ['conflict'],
    },
    async ({ path, body: { refund_pence = null, reason: note }, ...facts }) => {
      const { premium_id } = path
      const refund_id = PremiumRefundId.parse(newId())
      return preview(path, { type: 'RefundPremium', premium_id, refund_id, refund_pence, note }, facts)
    },
  ),
  route(
    {
      ...previewing(teamRoute('policies')),
      method: 'post',
      address: `${policyAddress}/suspension/preview`,
      summary: 'Show what suspending a policy would do to its money and cover; nothing changes',
      path: policyPath,
      answers: previewAnswer,
      errors: ['conflict'],
    },
    async ({ path, ...facts }) => preview(path, { type: 'SuspendPolicy' }, facts),
  ),
  route(
    {
      ...previewing(teamRoute('policies')),
      method: 'post',
      address: `${policyAddress}/reinstatement/preview`,
      summary: 'Show what reinstating a policy would do to its money and cover; nothing changes',
      path: policyPath,
      answers: previewAnswer,
      errors: ['conflict'],
    },
    async ({ path, ...facts }) => preview(path, { type: 'ReinstatePolicy', now: facts.now, calendar }, facts),
  ),
]
