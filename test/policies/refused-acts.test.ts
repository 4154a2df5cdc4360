import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PaymentId } from '#domain/payments/events.ts'
import type { PolicyState } from '#domain/policies/state.ts'
import { ApplicationId } from '#domain/values.ts'
import { organisation_id } from '../applications/release.ts'
import { openSales, quotedAt, type Body, type Sales } from './fixture.ts'
import { cardPaid } from '../premiums/paid-by-card.ts'
import {
  type Act,
  because,
  called,
  claim,
  claimed,
  decide,
  decisions,
  dueOnly,
  direct_debit,
  firstPremium,
  lapsed,
  leave,
  load,
  paid,
  refunded,
  send,
  sold,
  strangers,
  unpaid,
  withoutMandate,
} from '../premiums/prepared.ts'

/** What the operator cannot do with a policy as it stands. */

let sales: Sales
beforeAll(async () => {
  sales = await openSales()
})
afterAll(async () => sales[Symbol.asyncDispose]())

describe('what an act refuses, by its code and its fields, and then changes nothing', () => {
  const ended = (prepare: (sales: Sales) => Promise<string>) => async (): Promise<string> => {
    const id = await prepare(sales)
    await decide(sales, id, called, {
      type: 'CancelPolicy',
      reason: 'customer_request',
      note: null,
      today: '2026-06-30',
    })
    return id
  }
  const writtenOff = async (): Promise<string> => {
    const id = await unpaid(sales)
    const { premium_id } = (await load(sales, id)).premiums[0] ?? expect.fail('No premium is due.')
    await decide(sales, id, called, { type: 'WriteOffPremium', premium_id, reason: 'operator' })
    return id
  }
  const overdue = async (): Promise<string> => {
    const id = await unpaid(sales)
    await decide(sales, id, called, { type: 'SuspendPolicy' })
    return id
  }
  const later =
    (prepare: (sales: Sales) => Promise<string>, to = '2027-01-10T09:00:00.000Z') =>
    async (): Promise<string> => {
      const id = await prepare(sales)
      sales.clock(to)
      return id
    }
  const firstRefund = (state: PolicyState): string =>
    `${firstPremium(state)}/refunds/${state.premiums[0]?.refunds[0]?.refund_id}`
  const unheard = 'c9000000-0000-4000-8000-000000000009'
  const whole = { all: true, ...because }
  const at = (end: string) => () => end
  const onPremium = (end: string) => (state: PolicyState) => `${firstPremium(state)}/${end}`

  const conflicts: readonly Act[] = [
    { name: 'retry of a premium that was written off', prepare: writtenOff, at: onPremium('retry'), body: because },
    { name: 'refund of a premium that was not collected', prepare: unpaid, at: onPremium('refund'), body: whole },
    { name: 'refund of a premium that is given back', prepare: refunded, at: onPremium('refund'), body: whole },
    {
      name: 'closure of a refund that is tried',
      prepare: refunded,
      at: (state) => `${firstRefund(state)}/closure`,
      body: leave,
    },
    { name: 'write-off of a premium that was collected', prepare: paid, at: onPremium('write_off'), body: because },
    {
      name: 'write-off of a premium that is being collected',
      prepare: dueOnly,
      at: onPremium('write_off'),
      body: because,
    },
    { name: 'suspension of one that has ended', prepare: ended(sold), at: at('suspension') },
    { name: 'reinstatement of one in arrears', prepare: overdue, at: at('reinstatement') },
    { name: 'reinstatement of one that was cancelled', prepare: ended(sold), at: at('reinstatement') },
    { name: 'reinstatement long after the lapse', prepare: later(lapsed), at: at('reinstatement') },
    {
      name: 'amendment of one that has ended',
      prepare: ended(sold),
      at: at('amendment'),
      body: { collection_day: 28 },
    },
    { name: 'review of guaranteed premiums', prepare: sold, at: at('review'), body: {} },
    { name: 'review of one that has ended', prepare: ended(sold), at: at('review'), body: {} },
    {
      name: 'cancellation of one that has ended',
      prepare: ended(sold),
      at: at('cancellation'),
      body: { reason: 'other', note: 'By telephone.' },
    },
    { name: 'mandate of one that has ended', prepare: ended(withoutMandate), at: at('mandate') },
    {
      name: 'mandate of one that has ended, from another account',
      prepare: ended(withoutMandate),
      at: at('mandate'),
      body: { direct_debit },
    },
    {
      name: 'payment of a claim that was declined',
      prepare: claimed('decline'),
      at: decisions,
      body: { decision: 'pay', note: 'The certificate was seen.' },
    },
  ]
  const missing: readonly Act[] = [
    {
      name: 'a claim that there is not',
      prepare: sold,
      at: at(`claims/${unheard}/decisions`),
      body: { decision: 'approve' },
    },
    { name: 'a premium that there is not', prepare: sold, at: at(`premiums/${unheard}/retry`), body: because },
    { name: 'a refund that there is not', prepare: paid, at: onPremium(`refunds/${unheard}/retry`), body: because },
    {
      name: 'the closure of a refund that there is not',
      prepare: paid,
      at: onPremium(`refunds/${unheard}/closure`),
      body: leave,
    },
  ]
  const wrong: readonly (Act & { readonly fields: readonly string[] })[] = [
    {
      name: 'refund of more than was paid',
      prepare: paid,
      at: onPremium('refund'),
      body: { refund_pence: 99_999_999, ...because },
      fields: ['refund_pence'],
    },
    {
      name: 'refund of nothing',
      prepare: paid,
      at: onPremium('refund'),
      body: { refund_pence: 0, ...because },
      fields: ['refund_pence'],
    },
    {
      name: 'refund that says neither how much nor why',
      prepare: paid,
      at: onPremium('refund'),
      body: {},
      fields: ['all', 'refund_pence', 'reason'],
    },
    {
      name: 'refund that says neither an amount nor all',
      prepare: paid,
      at: onPremium('refund'),
      body: because,
      fields: ['all', 'refund_pence'],
    },
    {
      name: 'refund of an amount and of all',
      prepare: paid,
      at: onPremium('refund'),
      body: { refund_pence: 5, all: true, ...because },
      fields: ['all', 'refund_pence'],
    },
    {
      name: 'refund of all that says no',
      prepare: paid,
      at: onPremium('refund'),
      body: { all: false, ...because },
      fields: ['all'],
    },
    {
      name: 'refund of no amount',
      prepare: paid,
      at: onPremium('refund'),
      body: { refund_pence: null, ...because },
      fields: ['refund_pence'],
    },
    ...(
      [
        ['refund', 'refund', paid, { refund_pence: 5 }],
        ['retry of a premium', 'retry', unpaid, {}],
        ['write-off', 'write_off', unpaid, {}],
      ] as const
    ).flatMap(([name, end, prepare, more]) =>
      [{}, { reason: '   ' }, { reason: 'x'.repeat(501) }].map((said, index) => ({
        name: `${name} ${['without a reason', 'for a blank reason', 'for a reason longer than 500 characters'][index]}`,
        prepare,
        at: onPremium(end),
        body: { ...more, ...said },
        fields: ['reason'],
      })),
    ),
    {
      name: 'retry of a refund without a reason',
      prepare: refunded,
      at: (state) => `${firstRefund(state)}/retry`,
      fields: ['reason'],
    },
    {
      name: 'cancellation without a note',
      prepare: sold,
      at: at('cancellation'),
      body: { reason: 'customer_request' },
      fields: ['note'],
    },
    {
      name: 'payment of a claim without a note',
      prepare: claimed('approve'),
      at: decisions,
      body: { decision: 'pay' },
      fields: ['note'],
    },
    {
      name: 'refusal of a claim without a note',
      prepare: claimed(),
      at: decisions,
      body: { decision: 'decline' },
      fields: ['note'],
    },
    {
      name: 'closure on a day to come',
      prepare: refunded,
      at: (state) => `${firstRefund(state)}/closure`,
      body: { how: 'paid_otherwise', paid_on: '2027-01-01', reason: 'Cash.' },
      fields: ['paid_on'],
    },
    {
      name: 'closure as not owed with a day of payment',
      prepare: refunded,
      at: (state) => `${firstRefund(state)}/closure`,
      body: { how: 'not_owed', paid_on: '2026-03-02', reason: 'Cash.' },
      fields: ['paid_on'],
    },
    {
      name: 'closure without a reason',
      prepare: refunded,
      at: (state) => `${firstRefund(state)}/closure`,
      body: { how: 'not_owed' },
      fields: ['reason'],
    },
    {
      name: 'amendment of a cover that there is not',
      prepare: sold,
      at: at('amendment'),
      body: {
        components: [
          { cover_index: 0, premium_pence: 999 },
          { cover_index: 7, premium_pence: 999 },
          { cover_index: 0 },
        ],
      },
      fields: ['components[1].cover_index', 'components[2].cover_index'],
    },
    {
      name: 'amendment to a day that is none',
      prepare: sold,
      at: at('amendment'),
      body: { collection_day: 29 },
      fields: ['collection_day'],
    },
    {
      name: 'cancellation after the time to cool off',
      prepare: later(sold),
      at: at('cancellation'),
      body: { reason: 'cooling_off', note: 'By telephone.' },
      fields: ['reason'],
    },
    {
      name: 'claim for a time before cover',
      prepare: sold,
      at: at('claims'),
      body: { ...claim, happened_on: '2026-01-01' },
      fields: ['happened_on'],
    },
    {
      name: 'claim for a time to come',
      prepare: sold,
      at: at('claims'),
      body: { ...claim, happened_on: '2027-01-01' },
      fields: ['happened_on'],
    },
    {
      name: 'claim for a time after cover',
      prepare: later(ended(sold)),
      at: at('claims'),
      body: { ...claim, happened_on: '2026-08-01' },
      fields: ['happened_on'],
    },
    {
      name: 'claim on what is not covered',
      prepare: sold,
      at: at('claims'),
      body: { ...claim, claim_type: 'healthcare' },
      fields: ['claim_type'],
    },
    {
      name: 'claim on a cover of another type',
      prepare: sold,
      at: at('claims'),
      body: { ...claim, cover_index: 7 },
      fields: ['cover_index'],
    },
    {
      name: 'approval of more than is covered',
      prepare: claimed(),
      at: decisions,
      body: { decision: 'approve', amount_pence: 99_999_999_999 },
      fields: ['amount_pence'],
    },
    {
      name: 'a decision that there is not',
      prepare: claimed(),
      at: decisions,
      body: { decision: 'shrug' },
      fields: ['decision'],
    },
  ]
  test.each([
    ...conflicts.map((act) => ({ ...act, status: 409, code: 'conflict', fields: [] })),
    ...missing.map((act) => ({ ...act, status: 404, code: 'not_found', fields: [] })),
    ...wrong.map((act) => ({ ...act, status: 422, code: 'validation_failed' })),
  ])('$status $code: $name', async (act) => {
    const id = await act.prepare(sales)
    const before = await sales.typesOf(`policy-${id}`)

    const { status, body } = await send(sales, act, id)

    const { code, fields = {} } = (body as Body).error
    expect([status, code, Object.keys(fields)]).toEqual([act.status, act.code, act.fields])
    expect(await sales.typesOf(`policy-${id}`)).toEqual(before)
  })
})

describe('what is refused about a card payment that is left to the team', () => {
  const payment_id = PaymentId.parse('f0000000-0000-4000-8000-000000000042')
  const withCard = async (): Promise<string> => {
    const { application_id, quote_id } = await sales.ready({ direct_debit_first: false })
    await sales.append(application_id, cardPaid({ quote_id, amount_pence: 1_250, paid_at: quotedAt }, payment_id))
    return application_id
  }
  const address = (application_id: string, payment: string = payment_id, organisation: string = organisation_id) =>
    `/admin/v1/organisations/${organisation}/applications/${application_id}/card_payments/${payment}`

  test('409 conflict: nothing of it is owed', async () => {
    const answer = await sales.post(`${address(await withCard())}/closure`, leave)
    expect(answer).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } })
  })

  test('409 conflict: it is still tried', async () => {
    const application_id = await withCard()
    await sales.append(ApplicationId.parse(application_id), [
      { type: 'CardPaymentReturnOwed', payment_id, reason: 'not_used' },
    ])
    const answer = await sales.post(`${address(application_id)}/closure`, leave)
    expect(answer).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } })
  })

  test.each(['settlement', 'closure'])(
    '404 not_found: %s of one that there is not, or is another firm’s',
    async (act) => {
      const application_id = await withCard()
      const unheard = 'f9000000-0000-4000-8000-000000000009'
      const body = act === 'closure' ? leave : because
      const answers = [
        await sales.post(`${address(application_id, unheard)}/${act}`, body),
        await sales.post(`${address(unheard)}/${act}`, body),
        await sales.post(`${address(application_id, payment_id, strangers)}/${act}`, body),
      ]
      for (const answer of answers)
        expect(answer).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
    },
  )

  test('422 validation_failed: a settlement without a reason', async () => {
    const { status, body } = await sales.post(`${address(await withCard())}/settlement`, {})
    expect([status, (body as Body).error.fields]).toEqual([422, { reason: 'required' }])
  })

  test('422 validation_failed: a closure on a day to come, and one that says too little', async () => {
    const to = `${address(await withCard())}/closure`
    const early = await sales.post(to, { how: 'paid_otherwise', paid_on: '2027-01-01', reason: 'Cash.' })
    const short = await sales.post(to, {})
    expect([early, short].map(({ status }) => status)).toEqual([422, 422])
    const fieldsOf = (body: unknown) => Object.keys((body as Body).error.fields ?? {})
    expect([early.body, short.body].map(fieldsOf)).toEqual([['paid_on'], ['reason', 'how']])
  })
})
