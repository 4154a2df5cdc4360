import { describe } from 'vitest'
import { application } from '#domain/applications/application.ts'
import type { TakeCardPayment } from '#domain/payments/card-payments.ts'
import type { ApplicationStreamEvent } from '#domain/applications/record.ts'
import { PaymentId } from '#domain/payments/events.ts'
import { applied, after, firstId, now, quote, secondId } from '../quotes/builders.ts'
import { rejected, scenariosOf } from '../scenario.ts'

const scenario = scenariosOf(application)

const payment_id = PaymentId.parse('f0000000-0000-4000-8000-000000000001')
const policy_id = 'e0000000-0000-4000-8000-000000000001'
const payment = {
  payment_id,
  quote_id: firstId,
  payment_intent_id: 'pi_1',
  provider_customer_id: 'cus_1',
  amount_pence: 1250,
  currency_code: 'GBP',
}
const opened: ApplicationStreamEvent = { type: 'CardPaymentOpened', ...payment, idempotency_key: null }
const paid = { card_brand: 'visa', card_last4: '4242', paid_at: now, idempotency_key: null } as const
const takenAs = (status: 'succeeded' | 'authorised'): ApplicationStreamEvent => ({
  type: 'CardPaymentTaken',
  payment_id,
  status,
  ...paid,
})
const take = (status: 'succeeded' | 'authorised' = 'succeeded'): TakeCardPayment => ({
  type: 'TakeCardPayment',
  ...payment,
  status,
  ...paid,
})
const owed = (reason: 'quote_ended' | 'not_used' | 'bind_failed'): ApplicationStreamEvent => ({
  type: 'CardPaymentReturnOwed',
  payment_id,
  reason,
})
const returned: ApplicationStreamEvent = {
  type: 'CardPaymentReturned',
  payment_id,
  policy_id: null,
  how: 'refunded',
  amount_pence: 1250,
}
const used: ApplicationStreamEvent = { type: 'CardPaymentUsed', payment_id, policy_id }
const captured = (of: string | null): ApplicationStreamEvent => ({
  type: 'CardPaymentCaptured',
  payment_id,
  policy_id: of,
})
const rejectedQuote: ApplicationStreamEvent = { type: 'QuoteRejected', quote_id: firstId, reason: null }
const quoted = after(applied(), quote())
const open = [...quoted, opened]

describe('what the provider says is paid is recorded once, whatever came before', () => {
  const taking = (name: string, given: readonly ApplicationStreamEvent[], then: readonly ApplicationStreamEvent[]) =>
    scenario(name, { given, at: now, when: take(), then })

  taking('of a payment that was opened', open, [takenAs('succeeded')])
  taking('of a payment that we have not heard of', quoted, [opened, takenAs('succeeded')])
  taking('and not again', [...open, takenAs('succeeded')], [])
  taking('as charged, where it was authorised before', [...open, takenAs('authorised')], [captured(null)])
  taking(
    'as charged for the policy that it was used for',
    [...open, takenAs('authorised'), used],
    [captured(policy_id)],
  )
  taking(
    'and is given back when its quote has ended',
    [...open, rejectedQuote],
    [takenAs('succeeded'), owed('quote_ended')],
  )
  taking('and stays to be given back', [...open, owed('quote_ended')], [takenAs('succeeded')])
  taking('but not after it was given back: then it is paid no more', [...open, returned], [])

  scenario('that it is authorised is no news of what was charged', {
    given: [...open, takenAs('succeeded')],
    at: now,
    when: take('authorised'),
    then: [],
  })
})

describe('what was given back pays for nothing', () => {
  for (const [what, events] of [
    ['returned', [takenAs('succeeded'), owed('bind_failed'), returned]],
    ['to be returned', [takenAs('succeeded'), owed('bind_failed')]],
  ] as const)
    scenario(`a payment that is ${what} is not charged`, {
      given: [...open, ...events],
      at: now,
      when: { type: 'RecordCardCapture', payment_id },
      then: [],
    })

  scenario('it is given back once', {
    given: [...open, takenAs('succeeded'), owed('bind_failed'), returned],
    at: now,
    when: { type: 'OweCardReturn', payment_id, reason: 'operator' },
    then: [],
  })
})

describe('what no policy has followed for a day is given back', () => {
  const aDayLater = '2026-06-02T09:00:00.000Z'
  const unused = (at: string) => ({ type: 'ReturnUnusedCardPayment', payment_id, now: at }) as const
  const given = [...open, takenAs('succeeded')]

  scenario('then', { given, at: now, when: unused(aDayLater), then: [owed('not_used')] })
  scenario('and not a moment before', { given, at: now, when: unused('2026-06-02T08:59:59.999Z'), then: [] })
  scenario('but not where a policy has', { given: [...given, used], at: now, when: unused(aDayLater), then: [] })
  scenario('and not what was never paid', { given: open, at: now, when: unused(aDayLater), then: [] })
})

describe('when a quote has ended', () => {
  const close = { type: 'CloseQuotePayments', quote_id: firstId } as const

  scenario('what is open is closed', {
    given: [...open, rejectedQuote],
    at: now,
    when: close,
    then: [owed('quote_ended')],
  })
  scenario('what a policy was bought with stays', {
    given: [...open, used, rejectedQuote],
    at: now,
    when: close,
    then: [],
  })
  scenario('nothing is closed of a quote that can be bought', { given: open, at: now, when: close, then: [] })
  scenario('and nothing of another quote', {
    given: [...after([...quoted, rejectedQuote], quote({ quote_id: secondId })), { ...opened, quote_id: secondId }],
    at: now,
    when: close,
    then: [],
  })
})

describe('a card that was declined', () => {
  const decline = { type: 'DeclineCardPayment', payment_id, failure_code: 'generic_decline' } as const
  const declined: ApplicationStreamEvent = { type: 'CardPaymentDeclined', payment_id, failure_code: 'generic_decline' }

  scenario('is recorded', { given: open, at: now, when: decline, then: [declined] })
  scenario('once for the same reason', { given: [...open, declined], at: now, when: decline, then: [] })
  scenario('and late news of it changes nothing', {
    given: [...open, takenAs('succeeded')],
    at: now,
    when: decline,
    then: [],
  })
})

describe('what was left to the team', () => {
  const request = { type: 'RequestSettlement', payment_id } as const
  const left: ApplicationStreamEvent = {
    type: 'CardPaymentSettlementFailed',
    payment_id,
    failure_code: 'unanswered',
    attempt: 10,
    retry_at: null,
  }

  scenario('is given back when they ask for it', {
    given: [...open, takenAs('succeeded'), owed('not_used'), left],
    at: now,
    when: request,
    then: [{ type: 'CardPaymentSettlementRequested', payment_id, work: 'return' }],
  })
  scenario('is charged when they ask for it', {
    given: [...open, takenAs('authorised'), used, left],
    at: now,
    when: request,
    then: [{ type: 'CardPaymentSettlementRequested', payment_id, work: 'capture' }],
  })
  scenario('and is not asked for while it is still tried', {
    given: [...open, takenAs('succeeded'), owed('not_used')],
    at: now,
    when: request,
    then: [],
  })
  const failed: ApplicationStreamEvent = {
    type: 'CardPaymentReturnFailed',
    payment_id,
    policy_id: null,
    failure_code: 'lost_or_stolen_card',
    provider_refund_id: 're_1',
  }
  const owedAgain = [...open, takenAs('succeeded'), owed('not_used'), returned, failed]
  const notYet = { type: 'RecordSettlementFailure', payment_id, failure_code: 'unanswered', now } as const
  const delayed = (retry_at: string): ApplicationStreamEvent => ({
    type: 'CardPaymentSettlementFailed',
    payment_id,
    failure_code: 'unanswered',
    attempt: 1,
    retry_at,
  })
  scenario('is tried as soon as they ask for it, also before its next attempt was due', {
    given: [
      ...open,
      takenAs('succeeded'),
      owed('not_used'),
      delayed('2026-12-31T00:00:00.000Z'),
      failed,
      { type: 'CardPaymentSettlementRequested', payment_id, work: 'return' },
    ],
    at: now,
    when: notYet,
    then: [delayed(new Date(Date.parse(now) + 60_000).toISOString())],
  })
  const closing = { how: 'paid_otherwise', paid_on: '2026-06-01', reason: 'Bank transfer.' } as const
  const close = { type: 'CloseCardReturn', payment_id, closing } as const
  const closed: ApplicationStreamEvent = { type: 'CardPaymentReturnClosed', payment_id, policy_id: null, ...closing }
  scenario('is closed when it was paid in another way', { given: owedAgain, at: now, when: close, then: [closed] })
  scenario('once', { given: [...owedAgain, closed], at: now, when: close, then: [] })
  scenario('and then stays closed, whatever the provider tells', {
    given: [...owedAgain, closed],
    at: now,
    when: {
      type: 'RecordReturnFailure',
      payment_id,
      provider_refund_id: 're_2',
      failure_code: 'lost_or_stolen_card',
    },
    then: [],
  })
  scenario('or when it is owed no more', {
    given: owedAgain,
    at: now,
    when: { ...close, closing: { how: 'not_owed', reason: 'A mistake.' } },
    then: [{ ...closed, how: 'not_owed', paid_on: null, reason: 'A mistake.' }],
  })
  scenario('409 conflict: it is still tried', {
    given: [...open, takenAs('succeeded'), owed('not_used')],
    at: now,
    when: close,
    then: rejected('conflict'),
  })
  scenario('409 conflict: nothing of it is owed', {
    given: [...open, takenAs('succeeded')],
    at: now,
    when: close,
    then: rejected('conflict'),
  })
  scenario('404 where there is no such payment', { given: quoted, at: now, when: request, then: rejected('not_found') })
})
