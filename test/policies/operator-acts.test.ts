import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { policy, type PolicyCommand } from '#domain/policies/policy.ts'
import { ClaimId } from '#domain/claims/events.ts'
import type { PolicyState } from '#domain/policies/state.ts'
import { collectPremiums } from '../../command-api/policies/collect-premiums.ts'
import { premiumIds } from '../../command-api/policies/ids.ts'
import { refundPremiums } from '../../command-api/policies/refund-premiums.ts'
import { commandHandler } from '../../command-api/handle.ts'
import { setUpMandates } from '../../command-api/policy-mandates.ts'
import { PaymentId } from '#domain/payments/events.ts'
import { ApplicationId } from '#domain/values.ts'
import { organisation_id } from '../applications/release.ts'
import type { Kill } from '../mortal.ts'
import { openSales, quotedAt, type Body, type Sales } from './fixture.ts'
import { cardPaid } from './paid-by-card.ts'

/** Every act of the operator upon a policy, sent many times at once, killed at each of its writes, and by the wrong firm. */

let sales: Sales
beforeAll(async () => {
  sales = await openSales()
})
afterAll(async () => sales[Symbol.asyncDispose]())

type Process = Pick<Sales, 'post' | 'writer' | 'merchants'>

const strangers = '99999999-0000-4000-8000-000000000001'
const claim_id = ClaimId.parse('c1000000-0000-4000-8000-000000000001')
const actor = { type: 'system', id: null } as const
const contextAt = (now: string) => ({ organisation_id, actor, correlation_id: 'test', now })

const load = async (id: string): Promise<PolicyState> => {
  const state = await commandHandler(sales.writer, policy).load(id)
  return state ?? expect.fail('There is no such policy.')
}
const decide = async (id: string, now: string, ...commands: readonly PolicyCommand[]) => {
  for (const command of commands) await commandHandler(sales.writer, policy).handle(id, command, contextAt(now))
}
type Collecting = Parameters<typeof setUpMandates>[0]

const fire = async (process: Collecting, kind: string, state: PolicyState, id: string, due_at: string) => {
  const clock = { now: () => new Date(due_at) }
  const timers = [...collectPremiums({ ...process, clock }), refundPremiums(process), setUpMandates(process)]
  const due = { organisation_id, kind, id, stream: `policy-${state.id}`, due_at }
  await timers.find((timer) => timer.kind === kind)?.fire(due, contextAt(due_at))
}

const called = '2026-06-30T09:00:00.000Z'
const sold = async (): Promise<string> => {
  sales.clock(quotedAt)
  const { quote_id } = await sales.ready()
  const { id } = (await sales.bind(quote_id, { collection_day: 14 })).body.data
  await decide(id, called, { type: 'ActivatePolicy', now: called })
  sales.clock(called)
  return id
}
/** A policy whose first premium was collected. */
const paid = async (): Promise<string> => {
  const id = await sold()
  await fire(sales, 'policy_mandate', await load(id), id, quotedAt)
  await fire(sales, 'policy_premium', await load(id), id, called)
  const premium = (await load(id)).premiums[0] ?? expect.fail('No premium was asked for.')
  await fetch(`${sales.stripe.url}/stand-in/payment_intents/${premium.payment_intent_id}/settle`, { method: 'POST' })
  await fire(sales, 'premium', await load(id), premium.premium_id, premium.retry_at ?? '')
  return id
}
const dueOnly = async (): Promise<string> => {
  const id = await sold()
  await decide(id, called, { type: 'CallPremium', now: called, idOf: premiumIds(id) })
  return id
}
/** A policy whose first premium has failed. */
const unpaid = async (): Promise<string> => {
  const id = await dueOnly()
  const { premium_id } = (await load(id)).premiums[0] ?? expect.fail('No premium is due.')
  const result = { outcome: 'failed', failure_code: 'insufficient_funds' } as const
  await decide(id, called, { type: 'SettlePremium', premium_id, attempt: 1, now: called, result })
  return id
}
const lapsed = async (): Promise<string> => {
  const id = await unpaid()
  for (const now of ['2026-08-15T09:00:00.000Z', '2026-09-20T09:00:00.000Z'])
    await decide(id, now, { type: 'CheckArrears', now })
  sales.clock('2026-09-25T09:00:00.000Z')
  return id
}
const refunded = async (): Promise<string> => {
  const id = await paid()
  await decide(id, called, { type: 'CancelPolicy', reason: 'cooling_off', note: null, today: '2026-06-30' })
  return id
}
const suspended = async (): Promise<string> => {
  const id = await sold()
  await decide(id, called, { type: 'SuspendPolicy' })
  return id
}
const claimed = (...decisions: readonly ('approve' | 'decline')[]) => {
  const today = '2026-06-20'
  const amount_pence = 1_000_000
  return async (): Promise<string> => {
    const id = await sold()
    const opened = { claim_type: 'life', cover_index: null, happened_on: today, amount_pence, note: null } as const
    await decide(id, called, { type: 'OpenClaim', claim_id, ...opened, today })
    for (const decision of decisions)
      await decide(id, called, {
        type: 'DecideClaim',
        claim_id,
        decision,
        amount_pence,
        note: null,
        ends_policy: false,
        today,
      })
    return id
  }
}
const withoutMandate = async (): Promise<string> => {
  const id = await sold()
  const failure = { failure_code: 'account_closed', is_final: true, mandate_requests: 0, now: called } as const
  await decide(id, called, { type: 'RecordMandateFailure', ...failure })
  return id
}

type Act = {
  readonly name: string
  readonly prepare: () => Promise<string>
  /** Its address below that of the policy. */
  readonly at: (state: PolicyState) => string
  readonly body?: object
  /** How many writes it makes. */
  readonly writes?: number
}

const firstPremium = ({ premiums }: PolicyState): string => `premiums/${premiums[0]?.premium_id}`
const decisions = () => `claims/${claim_id}/decisions`
const direct_debit = { account_holder_name: 'Anna Ash', sort_code: '10-79-99', account_number: '88837491' }
const claim = { claim_type: 'life', happened_on: '2026-06-20', amount_pence: 1_000_000 }
const leave = { how: 'not_owed', reason: 'Paid in cash.' }

const acts: readonly Act[] = [
  { name: 'cancellation', prepare: paid, at: () => 'cancellation', body: { reason: 'cooling_off' } },
  {
    name: 'amendment',
    prepare: sold,
    at: () => 'amendment',
    body: { components: [{ cover_index: 0, premium_pence: 999 }], collection_day: 28 },
  },
  { name: 'suspension', prepare: sold, at: () => 'suspension' },
  { name: 'reinstatement of one that is suspended', prepare: suspended, at: () => 'reinstatement' },
  { name: 'reinstatement of one that has lapsed', prepare: lapsed, at: () => 'reinstatement' },
  { name: 'retry of a premium', prepare: unpaid, at: (state) => `${firstPremium(state)}/retry` },
  { name: 'write-off of a premium', prepare: unpaid, at: (state) => `${firstPremium(state)}/write_off` },
  {
    name: 'refund of a premium',
    prepare: paid,
    at: (state) => `${firstPremium(state)}/refund`,
    body: { refund_pence: 5 },
  },
  { name: 'opening of a claim', prepare: sold, at: () => 'claims', body: claim },
  { name: 'approval of a claim', prepare: claimed(), at: decisions, body: { decision: 'approve' } },
  {
    name: 'payment of a claim that ends the policy',
    prepare: claimed('approve'),
    at: decisions,
    body: { decision: 'pay', ends_policy: true },
  },
  { name: 'reopening of a claim', prepare: claimed('decline'), at: decisions, body: { decision: 'reopen' } },
  // Ours of the account, and that a mandate is wanted.
  {
    name: 'mandate from another account',
    prepare: withoutMandate,
    at: () => 'mandate',
    body: { direct_debit },
    writes: 2,
  },
]

const send = async (
  { at, body }: Act,
  id: string,
  process: Process = sales,
  organisation: string = organisation_id,
) => {
  const address = `/admin/v1/organisations/${organisation}/policies/${id}/${at(await load(id))}`
  return process.post(address, body ?? {}, { 'idempotency-key': 'once' })
}
const isDone = ({ status }: { readonly status: number }): boolean => status === 200 || status === 201
/** What there is of a policy, with its premiums and claims, and of its application. */
const traceOf = async (id: string) => {
  const { application_id, status } = await load(id)
  const application = await sales.typesOf(`application-${application_id}`)
  return { status, policy: await sales.typesOf(`policy-${id}`), application }
}

describe.each(acts)('$name', (act) => {
  test('is done once when it is sent many times at once, to two processes; wherever it is killed, it completes', async () => {
    const undisturbed = await act.prepare()
    const before = (await traceOf(undisturbed)).policy.length
    expect(await send(act, undisturbed)).toSatisfy(isDone)
    const expected = await traceOf(undisturbed)
    expect(expected.policy.length).toBeGreaterThan(before)

    const crowded = await act.prepare()
    await using other = await sales.startProcess()
    const sent = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => send(act, crowded, index % 2 ? other : sales)),
    )
    expect(sent.filter((each) => !isDone(each))).toEqual([])
    const { writes = 1 } = act
    expect(await traceOf(crowded)).toEqual(expected)

    const kills = Array.from({ length: writes }, (_, index) => index + 1).flatMap((atWrite): Kill[] => [
      { atWrite, when: 'before' },
      { atWrite, when: 'after' },
    ])
    for (const kill of kills) {
      const id = await act.prepare()
      await using dying = await sales.startProcess(kill)
      expect((await send(act, id, dying)).status).toBe(500)
      expect(await send(act, id)).toSatisfy(isDone)
      expect({ kill, ...(await traceOf(id)) }).toEqual({ kill, ...expected })
    }
  })

  test('404 not_found for another organisation, and nothing is changed', async () => {
    const id = await act.prepare()
    const before = await traceOf(id)

    expect(await send(act, id, sales, strangers)).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })

    expect(await traceOf(id)).toEqual(before)
  })
})

test.each([
  ['policy_mandate', sold, ({ id }: PolicyState) => id, 'PolicyMandateDelayed'],
  ['premium', dueOnly, ({ premiums }: PolicyState) => premiums[0]?.premium_id, 'PremiumDelayed'],
  [
    'premium_refund',
    refunded,
    ({ premiums }: PolicyState) => premiums[0]?.refunds[0]?.refund_id,
    'PremiumRefundDelayed',
  ],
] as const)(
  'a %s that failed is tried once at its time, however often a read model that lags shows it as due',
  async (kind, prepare, idOf, delayed) => {
    const state = await load(await prepare())
    const merchants = vi.fn<Collecting['merchants']>(() => undefined)
    const process = { ...sales, merchants }
    const fireAt = async (due_at: string) => fire(process, kind, state, idOf(state) ?? '', due_at)

    for (let time = 0; time < 3; time++) await fireAt(called)
    expect(merchants).toHaveBeenCalledTimes(1)
    await fireAt(new Date(Date.parse(called) + 60_000).toISOString())

    expect(merchants).toHaveBeenCalledTimes(2)
    expect((await sales.typesOf(`policy-${state.id}`)).filter((type) => type === delayed)).toHaveLength(2)
  },
)

describe('a refund that is owed', () => {
  test('is given back once, wherever the process that asks the provider for it is killed', async () => {
    for (const kill of [1, 2].flatMap((atWrite): Kill[] => [
      { atWrite, when: 'before' },
      { atWrite, when: 'after' },
    ])) {
      const id = await refunded()
      const owed = await load(id)
      const [premium] = owed.premiums
      const refund_id = premium?.refunds[0]?.refund_id ?? expect.fail('Nothing is owed.')
      await using dying = await sales.startProcess(kill)
      await expect(fire(dying, 'premium_refund', owed, refund_id, called)).rejects.toThrow('killed')

      for (let time = 0; time < 2; time++) await fire(sales, 'premium_refund', owed, refund_id, called)

      const { premiums } = await load(id)
      expect({ kill, refunded_pence: premiums[0]?.refunded_pence }).toEqual({
        kill,
        refunded_pence: premium?.amount_pence,
      })
      const made = sales.stripe
        .objects()
        .filter(({ object, payment_intent }) => object === 'refund' && payment_intent === premium?.payment_intent_id)
      expect(made).toMatchObject([{ amount: premium?.amount_pence }])
    }
  })

  test('cannot be settled under another policy: its premium is not found there', async () => {
    const [id, other] = [await paid(), await paid()]
    await decide(id, called, { type: 'CancelPolicy', reason: 'cooling_off', note: null, today: '2026-06-30' })
    const [premium] = (await load(id)).premiums
    const refund = `premiums/${premium?.premium_id}/refunds/${premium?.refunds[0]?.refund_id}`
    const base = `/admin/v1/organisations/${organisation_id}/policies/${other}`

    const acted = [
      await sales.post(`${base}/premiums/${premium?.premium_id}/refund`, {}),
      await sales.post(`${base}/${refund}/retry`, {}),
      await sales.post(`${base}/${refund}/closure`, leave),
    ]

    expect(acted.map(({ status }) => status)).toEqual([404, 404, 404])
  })
})

describe('what an act refuses, by its code and its fields, and then changes nothing', () => {
  const ended = (prepare: () => Promise<string>) => async (): Promise<string> => {
    const id = await prepare()
    await decide(id, called, { type: 'CancelPolicy', reason: 'customer_request', note: null, today: '2026-06-30' })
    return id
  }
  const writtenOff = async (): Promise<string> => {
    const id = await unpaid()
    const { premium_id } = (await load(id)).premiums[0] ?? expect.fail('No premium is due.')
    await decide(id, called, { type: 'WriteOffPremium', premium_id, reason: 'operator' })
    return id
  }
  const due = async (): Promise<string> => {
    const id = await sold()
    await decide(id, called, { type: 'CallPremium', now: called, idOf: premiumIds(id) })
    return id
  }
  const refundOwed = async (): Promise<string> => {
    const id = await paid()
    await decide(id, called, { type: 'CancelPolicy', reason: 'cooling_off', note: null, today: '2026-06-30' })
    return id
  }
  const overdue = async (): Promise<string> => {
    const id = await unpaid()
    await decide(id, called, { type: 'SuspendPolicy' })
    return id
  }
  const later =
    (prepare: () => Promise<string>, to = '2027-01-10T09:00:00.000Z') =>
    async (): Promise<string> => {
      const id = await prepare()
      sales.clock(to)
      return id
    }
  const firstRefund = (state: PolicyState): string =>
    `${firstPremium(state)}/refunds/${state.premiums[0]?.refunds[0]?.refund_id}`
  const unheard = 'c9000000-0000-4000-8000-000000000009'
  const at = (end: string) => () => end
  const onPremium = (end: string) => (state: PolicyState) => `${firstPremium(state)}/${end}`

  const conflicts: readonly Act[] = [
    { name: 'retry of a premium that was written off', prepare: writtenOff, at: onPremium('retry') },
    { name: 'refund of a premium that was not collected', prepare: unpaid, at: onPremium('refund'), body: {} },
    { name: 'refund of a premium that is given back', prepare: refundOwed, at: onPremium('refund'), body: {} },
    {
      name: 'closure of a refund that is tried',
      prepare: refundOwed,
      at: (state) => `${firstRefund(state)}/closure`,
      body: leave,
    },
    { name: 'write-off of a premium that was collected', prepare: paid, at: onPremium('write_off') },
    { name: 'write-off of a premium that is being collected', prepare: due, at: onPremium('write_off') },
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
      body: { reason: 'other' },
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
      body: { decision: 'pay' },
    },
  ]
  const missing: readonly Act[] = [
    {
      name: 'a claim that there is not',
      prepare: sold,
      at: at(`claims/${unheard}/decisions`),
      body: { decision: 'approve' },
    },
    { name: 'a premium that there is not', prepare: sold, at: at(`premiums/${unheard}/retry`) },
    { name: 'a refund that there is not', prepare: paid, at: onPremium(`refunds/${unheard}/retry`) },
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
      body: { refund_pence: 99_999_999 },
      fields: ['refund_pence'],
    },
    {
      name: 'refund of nothing',
      prepare: paid,
      at: onPremium('refund'),
      body: { refund_pence: 0 },
      fields: ['refund_pence'],
    },
    {
      name: 'closure on a day to come',
      prepare: refundOwed,
      at: (state) => `${firstRefund(state)}/closure`,
      body: { how: 'paid_otherwise', paid_on: '2027-01-01', reason: 'Cash.' },
      fields: ['paid_on'],
    },
    {
      name: 'closure without a reason',
      prepare: refundOwed,
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
      body: { reason: 'cooling_off' },
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
    const id = await act.prepare()
    const before = await sales.typesOf(`policy-${id}`)

    const { status, body } = await send(act, id)

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
      const answers = [
        await sales.post(`${address(application_id, unheard)}/${act}`, leave),
        await sales.post(`${address(unheard)}/${act}`, leave),
        await sales.post(`${address(application_id, payment_id, strangers)}/${act}`, leave),
      ]
      for (const answer of answers)
        expect(answer).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
    },
  )

  test('422 validation_failed: a closure on a day to come, and one that says too little', async () => {
    const to = `${address(await withCard())}/closure`
    const early = await sales.post(to, { how: 'paid_otherwise', paid_on: '2027-01-01', reason: 'Cash.' })
    const short = await sales.post(to, {})
    expect([early, short].map(({ status }) => status)).toEqual([422, 422])
    const fieldsOf = (body: unknown) => Object.keys((body as Body).error.fields ?? {})
    expect([early.body, short.body].map(fieldsOf)).toEqual([['paid_on'], ['reason', 'how']])
  })
})
