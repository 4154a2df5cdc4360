import { describe } from 'vitest'
import { application, type ApplicationCommand } from '#domain/applications/application.ts'
import type { ApplicationStreamEvent } from '#domain/applications/record.ts'
import { PaymentId } from '#domain/payments/events.ts'
import { ApiApplicationId, PolicyId } from '#domain/values.ts'
import { after, applied, firstId, now, quote, secondId } from '../quotes/builders.ts'
import { rejected, scenariosOf } from '../scenario.ts'

/** What becomes of card payments once they are open: charged, given back, or left to the team. */

const scenario = scenariosOf(application)

const payment_id = PaymentId.parse('f0000000-0000-4000-8000-000000000001')
const otherId = PaymentId.parse('f0000000-0000-4000-8000-000000000002')
const policy_id = PolicyId.parse('e0000000-0000-4000-8000-000000000001')
const opening = {
  payment_id,
  quote_id: firstId,
  payment_intent_id: 'pi_1',
  provider_customer_id: 'cus_1',
  amount_pence: 1250,
  currency_code: 'GBP',
  idempotency_key: null,
}
const opened: ApplicationStreamEvent = { type: 'CardPaymentOpened', ...opening }
const paid = { card_brand: 'visa', card_last4: '4242', paid_at: now, idempotency_key: null }
const taken = (status: 'succeeded' | 'authorised', id = payment_id): ApplicationStreamEvent => ({
  type: 'CardPaymentTaken',
  payment_id: id,
  status,
  ...paid,
})
const owed = (reason: 'quote_ended' | 'not_used' | 'bind_failed' | 'operator'): ApplicationStreamEvent => ({
  type: 'CardPaymentReturnOwed',
  payment_id,
  reason,
})
const returned = { payment_id, how: 'refunded', amount_pence: 1250 } as const
const givenBack: ApplicationStreamEvent = { type: 'CardPaymentReturned', ...returned, policy_id: null }
const used: ApplicationStreamEvent = { type: 'CardPaymentUsed', payment_id, policy_id }
const rejectedQuote: ApplicationStreamEvent = { type: 'QuoteRejected', quote_id: firstId, reason: null }
const bought: ApplicationStreamEvent = {
  type: 'QuoteBought',
  quote_id: firstId,
  policy_id,
  policy_number: 'POL-000000018',
  start_date: '2026-06-02',
  collection_day: 1,
  expires_on: [],
  bought_on: '2026-06-01',
  test: false,
  asked: { start_date: null, collection_day: null },
  bought_by: ApiApplicationId.parse('0d9e8c7b-6a5f-4e3d-9c2b-1a0f9e8d7c6b'),
  idempotency_key: null,
}
const quoted = after(applied(), quote())
const open = [...quoted, opened]
const another: ApplicationStreamEvent = { ...opened, payment_id: otherId }

const then = (
  name: string,
  given: readonly ApplicationStreamEvent[],
  when: ApplicationCommand,
  follows: readonly ApplicationStreamEvent[],
) => scenario(name, { given, at: now, when, then: follows })

describe('a card payment is opened', () => {
  const asked = { type: 'OpenCardPayment', ...opening } as const
  then('for a quote that can be bought', quoted, asked, [opened])
  then('once', open, asked, [])
  then('beside another', [...quoted, another], asked, [opened])
  then('and given back at once when its quote has ended meanwhile', [...quoted, rejectedQuote], asked, [
    opened,
    owed('quote_ended'),
  ])
  then('or was bought meanwhile', [...quoted, bought], asked, [opened, owed('not_used')])
  then('or is none of this application', applied(), asked, [opened, owed('quote_ended')])
})

describe('what is paid', () => {
  const take = { type: 'TakeCardPayment', ...opening, ...paid, status: 'succeeded' } as const
  then('for a quote that was bought is given back', [...open, bought], take, [taken('succeeded'), owed('not_used')])
  then('while it is to be given back is not owed twice', [...open, owed('operator'), rejectedQuote], take, [
    taken('succeeded'),
  ])
  then(
    'is charged once',
    [...open, taken('authorised'), { type: 'CardPaymentCaptured', payment_id, policy_id: null }],
    take,
    [],
  )
  then(
    'once authorised is no news when it is authorised again',
    [...open, taken('authorised')],
    { ...take, status: 'authorised' },
    [],
  )
  then('by one card is not paid by another', [...open, another, taken('succeeded', otherId)], take, [
    taken('succeeded'),
  ])
})

describe('that an authorised payment was charged', () => {
  const capture = { type: 'RecordCardCapture', payment_id } as const
  then('is recorded for its policy', [...open, taken('authorised'), used], capture, [
    { type: 'CardPaymentCaptured', payment_id, policy_id },
  ])
  then('once', [...open, taken('succeeded')], capture, [])
  then('not of a payment that nobody has heard of', quoted, capture, [])
})

describe('a card payment is owed back', () => {
  const owe = { type: 'OweCardReturn', payment_id, reason: 'bind_failed' } as const
  then('when it was paid', [...open, taken('succeeded')], owe, [owed('bind_failed')])
  then('when it is open', open, owe, [owed('bind_failed')])
  then('once', [...open, taken('succeeded'), owed('not_used')], owe, [])
  then('not one that nobody has heard of', quoted, owe, [])
  const unused = { type: 'ReturnUnusedCardPayment', payment_id, now: '2026-06-03T00:00:00.000Z' } as const
  then('not as unused where nobody has heard of it', quoted, unused, [])
  then('not as unused where it is owed back already', [...open, taken('succeeded'), owed('operator')], unused, [])
  then('not as unused where it was given back', [...open, taken('succeeded'), owed('operator'), givenBack], unused, [])
})

describe('when a quote was bought', () => {
  const close = { type: 'CloseQuotePayments', quote_id: firstId } as const
  then('what it was not bought with is given back', [...open, taken('succeeded'), bought], close, [owed('not_used')])
  then('what it was bought with is kept', [...open, taken('succeeded'), bought, used], close, [])
  then('what is owed back is not owed twice', [...open, owed('operator'), bought], close, [])
})

describe('that it was given back', () => {
  const record = { type: 'RecordCardReturn', ...returned } as const
  then('is recorded', [...open, taken('succeeded'), owed('not_used')], record, [givenBack])
  then('is recorded for its policy', [...open, taken('succeeded'), used, owed('operator')], record, [
    { type: 'CardPaymentReturned', ...returned, policy_id },
  ])
  then('once', [...open, taken('succeeded'), owed('not_used'), givenBack], record, [])
  const charged = { type: 'CardPaymentCaptured', payment_id, policy_id: null } as const
  then('before it is known that it was paid', open, record, [charged, givenBack])
  then('before it is known that it was charged', [...open, taken('authorised')], record, [charged, givenBack])
  const released = { ...returned, how: 'released', amount_pence: 0 } as const
  then('where it was let go, without a charge', [...open, taken('authorised')], { ...record, ...released }, [
    { type: 'CardPaymentReturned', ...released, policy_id: null },
  ])
  then('not of a payment that nobody has heard of', quoted, record, [])
  const disputed = { ...record, unless_sold: true } as const
  then('by a dispute, where it pays for no policy', [...open, taken('succeeded')], disputed, [givenBack])
  then('not by a dispute, where a sale came first', [...open, taken('succeeded'), bought, used], disputed, [])
})

describe('that the provider has it back', () => {
  const failure = { payment_id, provider_refund_id: 're_1', failure_code: 'lost_or_stolen_card' } as const
  const record = { type: 'RecordReturnFailure', ...failure } as const
  const failed: ApplicationStreamEvent = { type: 'CardPaymentReturnFailed', ...failure, policy_id: null }
  then('is recorded after it was given back', [...open, owed('not_used'), givenBack], record, [failed])
  then('is recorded before we know that it was given back', [...open, owed('not_used')], record, [failed])
  then('is recorded for its policy', [...open, used, owed('operator'), givenBack], record, [{ ...failed, policy_id }])
  then('once for each refund', [...open, owed('not_used'), givenBack, failed], record, [])
  then(
    'again for another refund',
    [...open, owed('not_used'), givenBack, failed],
    { ...record, provider_refund_id: 're_2' },
    [{ ...failed, provider_refund_id: 're_2' }],
  )
  then(
    'changes nothing of a payment that somebody gave back in part by hand',
    [...open, taken('succeeded')],
    record,
    [],
  )
  then('changes nothing of a payment that nobody has heard of', quoted, record, [])
})

describe('what could not be settled', () => {
  const fail = { type: 'RecordSettlementFailure', payment_id, failure_code: 'unanswered', now } as const
  const failed = (attempt: number, retry_at: string | null): ApplicationStreamEvent => ({
    type: 'CardPaymentSettlementFailed',
    payment_id,
    failure_code: 'unanswered',
    attempt,
    retry_at,
  })
  const before = (times: number) => Array.from({ length: times }, (_, index) => failed(index + 1, now))
  const given = [...open, taken('succeeded'), owed('not_used')]
  then('is tried again', given, fail, [failed(1, '2026-06-01T09:01:00.000Z')])
  then('is counted', [...given, ...before(1)], fail, [failed(2, '2026-06-01T09:05:00.000Z')])
  then('is counted once for each attempt', [...given, failed(1, '2026-06-01T09:00:00.001Z')], fail, [])
  then(
    'is counted although a former attempt to charge it would be made later',
    [...open, taken('authorised'), failed(1, '2026-06-01T09:01:00.000Z'), owed('not_used')],
    fail,
    [failed(1, '2026-06-01T09:01:00.000Z')],
  )
  then('is nothing any more once it was given back', [...given, givenBack], fail, [])
  then('is nothing of a payment that nobody has heard of', quoted, fail, [])
})

describe('the team', () => {
  const closing = { how: 'not_owed', reason: 'A mistake.' } as const
  const close = { type: 'CloseCardReturn', payment_id, closing } as const
  const left: ApplicationStreamEvent = {
    type: 'CardPaymentSettlementFailed',
    payment_id,
    failure_code: 'unanswered',
    attempt: 10,
    retry_at: null,
  }
  const closed: ApplicationStreamEvent = {
    type: 'CardPaymentReturnClosed',
    payment_id,
    policy_id,
    how: 'not_owed',
    paid_on: null,
    reason: 'A mistake.',
  }
  then(
    'closes what is owed of the first premium of a policy',
    [...open, taken('succeeded'), used, owed('operator'), left],
    close,
    [closed],
  )
  const tookBack = [
    ...open,
    taken('succeeded'),
    used,
    owed('operator'),
    { ...closed, how: 'taken_back', reason: null },
  ] as const
  const owe = { type: 'OweCardReturn', payment_id, reason: 'operator' } as const
  then('owes nothing of what the payer’s bank took back', tookBack, owe, [])
  scenario('404: there is no such payment to close', {
    given: quoted,
    at: now,
    when: close,
    then: rejected('not_found', undefined, 'no card payment with this id'),
  })
  scenario('409 conflict: it was given back', {
    given: [...open, owed('operator'), givenBack],
    at: now,
    when: close,
    then: rejected('conflict', undefined, 'Nothing of this card payment is owed: it is returned'),
  })
  scenario('409 conflict: it is still tried', {
    given: [...open, taken('succeeded'), owed('operator')],
    at: now,
    when: close,
    then: rejected('conflict', undefined, 'once it is left to the team'),
  })
})

describe('of two quotes', () => {
  const twice = after([...quoted, rejectedQuote], quote({ quote_id: secondId }))
  then(
    'the payment for the one that can be bought is kept',
    twice,
    { type: 'OpenCardPayment', ...opening, quote_id: secondId },
    [{ ...opened, quote_id: secondId }],
  )
})
