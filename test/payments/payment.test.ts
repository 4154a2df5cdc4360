import { describe } from 'vitest'
import { PaymentId, type PaymentStreamEvent } from '#domain/payments/events.ts'
import { payment, type Opened, type Statement } from '#domain/payments/payment.ts'
import { PremiumId, PremiumRefundId } from '#domain/premiums/events.ts'
import { ApplicationId, PolicyId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'
import { scenariosOf } from '../scenario.ts'

/** One payment at the provider, as its stream has it. */

const scenario = scenariosOf(payment)

const on = {
  payment_id: PaymentId.parse(derivedId('payment', '1')),
  policy_id: PolicyId.parse(derivedId('policy', '1')),
  premium_id: PremiumId.parse(derivedId('premium', '1')),
}
const about = {
  application_id: ApplicationId.parse(derivedId('application', '1')),
  method: 'direct_debit' as const,
  attempt: 1,
  amount_pence: 2875,
  currency_code: 'GBP',
}
const opened: Opened = { ...on, ...about }
const captured_at = '2026-07-01T09:00:00.000Z'
const isOpened: PaymentStreamEvent = { type: 'PaymentOpened', ...on, ...about }
const isTakenOn: PaymentStreamEvent = { type: 'PaymentTakenOn', ...on, payment_intent_id: 'pi_1' }
const isPaid: PaymentStreamEvent = { type: 'PaymentCaptured', ...on, captured_pence: 2875, captured_at }
const paid = [isOpened, isTakenOn, isPaid]
const statement: Statement = {
  payment_intent_id: 'pi_1',
  status: 'succeeded',
  captured_pence: 2875,
  captured_at,
  failure_code: null,
  refunds: [],
  disputes: [],
}
const recorded = (changes: number, stated: Partial<Statement> = {}) =>
  ({ type: 'RecordStatement', statement: { ...statement, ...stated }, opened, changes }) as const

const refund_id = PremiumRefundId.parse(derivedId('refund', '1'))
const asked = { refund_id, refund_pence: 1000, idempotency_key: 'refund 1' }
const isAsked: PaymentStreamEvent = { type: 'PaymentRefundAsked', ...on, ...asked }
const dispute = { provider_dispute_id: 'dp_1', disputed_pence: 2875 }
const isDisputed: PaymentStreamEvent = { type: 'PaymentDisputeOpened', ...on, ...dispute }

describe('what the provider says of a payment', () => {
  scenario('opens one that nobody knew of', { given: [], when: recorded(0), then: paid })
  scenario('is recorded once', { given: paid, when: recorded(3), then: [] })
  scenario('counts not where something was recorded since it was asked', { given: paid, when: recorded(2), then: [] })
  const ofNoPremium = { ...on, policy_id: null, premium_id: null }
  const unsold = paid.map((each): PaymentStreamEvent => ({ ...each, ...ofNoPremium }))
  scenario('assigns one that paid for nothing yet to its premium, and what is new is told of that', {
    given: unsold,
    when: recorded(3, { disputes: [{ ...dispute, status: 'open' }] }),
    then: [{ type: 'PaymentAssigned', ...on, attempt: 1 }, isDisputed],
  })
  scenario('leaves one that pays for nothing as it is', {
    given: unsold,
    when: { ...recorded(3), opened: { ...opened, ...ofNoPremium, attempt: null } },
    then: [],
  })
  scenario('takes no payment from its premium', {
    given: paid,
    when: { ...recorded(3), opened: { ...opened, ...ofNoPremium, attempt: null } },
    then: [],
  })
  for (const status of ['open', 'won', 'lost'] as const)
    scenario(`tells of a dispute that is ${status}, which was opened before it ended`, {
      given: paid,
      when: recorded(3, { disputes: [{ ...dispute, status }] }),
      then: [
        isDisputed,
        ...(status === 'won' ? [{ type: 'PaymentDisputeWon', ...on, ...dispute } as const] : []),
        ...(status === 'lost' ? [{ type: 'PaymentDisputeLost', ...on, ...dispute } as const] : []),
      ],
    })
  scenario('tells of the end of a dispute that is known', {
    given: [...paid, isDisputed],
    when: recorded(4, { disputes: [{ ...dispute, status: 'won' }] }),
    then: [{ type: 'PaymentDisputeWon', ...on, ...dispute }],
  })
})

describe('what the provider refuses', () => {
  const refused = { type: 'RefusePayment', failure_code: 'no_mandate' } as const
  const unpaid: PaymentStreamEvent = { type: 'PaymentFailed', ...on, failure_code: 'no_mandate' }

  scenario('to collect is not paid', { given: [isOpened], when: refused, then: [unpaid] })
  scenario('is not what it has taken on', { given: [isOpened, isTakenOn], when: refused, then: [] })
  scenario('is not what nobody has opened', { given: [], when: refused, then: [] })

  const refusedRefund = (idempotency_key: string) =>
    ({ type: 'RefuseRefund', refund_id, idempotency_key, failure_code: 'charge_disputed' }) as const

  scenario('to give back is asked no more', {
    given: [...paid, isAsked],
    when: refusedRefund('refund 1'),
    then: [
      {
        type: 'PaymentRefundFailed',
        ...on,
        refund_id,
        refund_pence: 1000,
        provider_refund_id: null,
        failure_code: 'charge_disputed',
      },
    ],
  })
  scenario('is what it was asked for last', { given: [...paid, isAsked], when: refusedRefund('refund 0'), then: [] })
})

describe('it is asked to give back', () => {
  const ask = (refund_pence: number) => ({ type: 'AskRefund', ...asked, refund_pence }) as const

  scenario('what it holds', { given: paid, when: ask(2875), then: [{ ...isAsked, refund_pence: 2875 }] })
  scenario('no more than it holds', { given: paid, when: ask(2876), then: [] })
  scenario('one thing at a time', { given: [...paid, isAsked], when: ask(500), then: [] })
  scenario('nothing that the payer’s bank has taken back', { given: [...paid, isDisputed], when: ask(1), then: [] })
})
