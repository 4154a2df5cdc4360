import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import type { PolicyState } from '#domain/policies/state.ts'
import { PremiumRefundId } from '#domain/premiums/events.ts'
import { derivedId } from '#infra/ids.ts'
import { besideAct, PolicyPreview } from '#domain/policies/preview.ts'
import { organisation_id } from '../applications/release.ts'
import type { Kill } from '../killed-process.ts'
import { england } from './calendars.ts'
import { openSales, type Sales } from './fixture.ts'
import {
  type Act,
  type Collecting,
  because,
  called,
  claim,
  claimed,
  decide,
  decisions,
  direct_debit,
  dueOnly,
  fire,
  firstPremium,
  lapsed,
  leave,
  load,
  paid,
  refunded,
  send,
  sold,
  strangers,
  suspended,
  unpaid,
  withoutMandate,
} from '../premiums/prepared.ts'

/** Every act of the operator upon a policy, sent many times at once, killed at each of its writes, and by the wrong firm. */

let sales: Sales
beforeAll(async () => {
  sales = await openSales()
})
afterAll(async () => sales[Symbol.asyncDispose]())

const acts: readonly Act[] = [
  {
    name: 'cancellation',
    prepare: paid,
    at: () => 'cancellation',
    body: { reason: 'cooling_off', note: 'By telephone.' },
  },
  {
    name: 'amendment',
    prepare: sold,
    at: () => 'amendment',
    body: { components: [{ cover_index: 0, premium_pence: 999 }], collection_day: 28 },
  },
  { name: 'suspension', prepare: sold, at: () => 'suspension' },
  { name: 'reinstatement of one that is suspended', prepare: suspended, at: () => 'reinstatement' },
  { name: 'reinstatement of one that has lapsed', prepare: lapsed, at: () => 'reinstatement' },
  { name: 'retry of a premium', prepare: unpaid, at: (state) => `${firstPremium(state)}/retry`, body: because },
  {
    name: 'write-off of a premium',
    prepare: unpaid,
    at: (state) => `${firstPremium(state)}/write_off`,
    body: because,
  },
  {
    name: 'refund of a premium',
    prepare: paid,
    at: (state) => `${firstPremium(state)}/refund`,
    body: { refund_pence: 5, ...because },
  },
  { name: 'opening of a claim', prepare: sold, at: () => 'claims', body: claim },
  { name: 'approval of a claim', prepare: claimed(), at: decisions, body: { decision: 'approve' } },
  {
    name: 'payment of a claim that ends the policy',
    prepare: claimed('approve'),
    at: decisions,
    body: { decision: 'pay', ends_policy: true, note: 'The certificate was seen.' },
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

const isDone = ({ status }: { readonly status: number }): boolean => status === 200 || status === 201
/** What there is of a policy, with its premiums and claims, and of its application. */
const traceOf = async (id: string) => {
  const { application_id, status } = await load(sales, id)
  const application = await sales.typesOf(`application-${application_id}`)
  return { status, policy: await sales.typesOf(`policy-${id}`), application }
}

describe.each(acts)('$name', (act) => {
  test('is done once when it is sent many times at once, to two processes; wherever it is killed, it completes', async () => {
    const undisturbed = await act.prepare(sales)
    const before = (await traceOf(undisturbed)).policy.length
    expect(await send(sales, act, undisturbed)).toSatisfy(isDone)
    const expected = await traceOf(undisturbed)
    expect(expected.policy.length).toBeGreaterThan(before)

    const crowded = await act.prepare(sales)
    await using other = await sales.startProcess()
    const sent = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => send(sales, act, crowded, index % 2 ? other : sales)),
    )
    expect(sent.filter((each) => !isDone(each))).toEqual([])
    const { writes = 1 } = act
    expect(await traceOf(crowded)).toEqual(expected)

    const kills = Array.from({ length: writes }, (_, index) => index + 1).flatMap((atWrite): Kill[] => [
      { atWrite, when: 'before' },
      { atWrite, when: 'after' },
    ])
    for (const kill of kills) {
      const id = await act.prepare(sales)
      await using dying = await sales.startProcess(kill)
      expect((await send(sales, act, id, dying)).status).toBe(500)
      expect(await send(sales, act, id)).toSatisfy(isDone)
      expect({ kill, ...(await traceOf(id)) }).toEqual({ kill, ...expected })
    }
  })

  test('404 not_found for another organisation, and nothing is changed', async () => {
    const id = await act.prepare(sales)
    const before = await traceOf(id)

    expect(await send(sales, act, id, sales, strangers)).toMatchObject({
      status: 404,
      body: { error: { code: 'not_found' } },
    })

    expect(await traceOf(id)).toEqual(before)
  })
})

const withoutPreview = ['retry of a premium', 'write-off of a premium', 'opening of a claim']

describe.each(acts.filter(({ name }) => !withoutPreview.includes(name)))('the preview of the $name', (act) => {
  const preview: Act = { ...act, at: (state) => `${act.at(state)}/preview` }
  const givenBack = ({ premiums }: PolicyState) =>
    premiums.flatMap(({ refunds }) => refunds).reduce((sum, { refund_pence }) => sum + refund_pence, 0)

  test('does nothing, and says what the act then does to money and cover', async () => {
    const id = await act.prepare(sales)
    const [before, trace] = [await load(sales, id), await traceOf(id)]

    const shown = await send(sales, preview, id)
    expect(shown.status).toBe(200)
    expect(await traceOf(id)).toEqual(trace)
    expect(await send(sales, act, id)).toSatisfy(isDone)

    const after = await load(sales, id)
    const { data } = z.object({ data: PolicyPreview }).parse(shown.body)
    expect(data.is_new).toBe(true)
    expect(data.before).toEqual(besideAct(before, england))
    expect(data.after).toEqual(besideAct(after, england))
    expect(data.refund_pence).toBe(givenBack(after) - givenBack(before))
  })

  test('404 not_found for another organisation', async () => {
    expect((await send(sales, preview, await act.prepare(sales), sales, strangers)).status).toBe(404)
  })
})

test('the preview of what would be refused is refused as the act is', async () => {
  const id = await lapsed(sales)
  const address = `/admin/v1/organisations/${organisation_id}/policies/${id}/suspension`
  const refused = await sales.post(address, {})
  expect(refused.status).toBe(409)
  expect(await sales.post(`${address}/preview`, {})).toMatchObject({ status: 409, body: refused.body })
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
    const state = await load(sales, await prepare(sales))
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
      const id = await refunded(sales)
      const owed = await load(sales, id)
      const [premium] = owed.premiums
      const refund_id = premium?.refunds[0]?.refund_id ?? expect.fail('Nothing is owed.')
      await using dying = await sales.startProcess(kill)
      await expect(fire(dying, 'premium_refund', owed, refund_id, called)).rejects.toThrow('killed')

      for (let time = 0; time < 2; time++) await fire(sales, 'premium_refund', owed, refund_id, called)

      const { premiums } = await load(sales, id)
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

  test('waits for no other of its premium, whichever is due first', async () => {
    const id = await paid(sales)
    const { premium_id } = (await load(sales, id)).premiums[0] ?? expect.fail('No premium was asked for.')
    const refund_ids = ['one', 'two'].map((name) => PremiumRefundId.parse(derivedId('refund', id, name)))
    for (const refund_id of refund_ids)
      await decide(sales, id, called, { type: 'RefundPremium', premium_id, refund_id, refund_pence: 100 })
    const given = async () => {
      const { refunds = [] } = (await load(sales, id)).premiums[0] ?? {}
      return refund_ids.map((refund_id) => refunds.find((each) => each.refund_id === refund_id)?.status)
    }

    await fire(sales, 'premium_refund', await load(sales, id), refund_ids[1] ?? '', called)
    expect(await given()).toEqual(['refunded', 'owed'])
    await fire(sales, 'premium_refund', await load(sales, id), refund_ids[1] ?? '', called)
    expect(await given()).toEqual(['refunded', 'refunded'])
  })

  test('cannot be settled under another policy: its premium is not found there', async () => {
    const [id, other] = [await paid(sales), await paid(sales)]
    await decide(sales, id, called, { type: 'CancelPolicy', reason: 'cooling_off', note: null, today: '2026-06-30' })
    const [premium] = (await load(sales, id)).premiums
    const refund = `premiums/${premium?.premium_id}/refunds/${premium?.refunds[0]?.refund_id}`
    const base = `/admin/v1/organisations/${organisation_id}/policies/${other}`

    const acted = [
      await sales.post(`${base}/premiums/${premium?.premium_id}/refund`, { all: true, ...because }),
      await sales.post(`${base}/${refund}/retry`, because),
      await sales.post(`${base}/${refund}/closure`, leave),
    ]

    expect(acted.map(({ status }) => status)).toEqual([404, 404, 404])
  })
})
