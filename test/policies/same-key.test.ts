import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { organisation_id } from '../applications/release.ts'
import { openSales, type Sales } from './fixture.ts'
import { because, firstPremium, load, paid, sold } from '../premiums/prepared.ts'

/** What the operator does about a policy with the Idempotency-Key of another act. */

let sales: Sales
beforeAll(async () => {
  sales = await openSales()
})
afterAll(async () => sales[Symbol.asyncDispose]())

type Sent = Readonly<Record<string, unknown>>
type Act = {
  readonly name: string
  readonly prepare: (sales: Sales) => Promise<string>
  readonly at: (id: string) => Promise<string>
  readonly first: Sent
  /** What is asked for differently, and the inputs that are named. */
  readonly others: readonly (readonly [differing: Sent, inputs: readonly string[]])[]
  /** What it adds to the policy. */
  readonly adds: string
}

const claim = {
  claim_type: 'life',
  cover_index: 0,
  happened_on: '2026-06-20',
  amount_pence: 1_000_000,
  note: 'Told by the family.',
}

const acts: readonly Act[] = [
  {
    name: 'opening a claim',
    prepare: sold,
    at: async () => 'claims',
    first: claim,
    others: [
      [{ amount_pence: 1_000_001 }, ['amount_pence']],
      [{ amount_pence: null, note: null }, ['amount_pence', 'note']],
      [{ cover_index: null }, ['cover_index']],
      [{ claim_type: 'critical_illness', happened_on: '2026-06-19' }, ['claim_type', 'happened_on']],
    ],
    adds: 'ClaimOpened',
  },
  {
    name: 'giving a part of a premium back',
    prepare: paid,
    at: async (id) => `${firstPremium(await load(sales, id))}/refund`,
    first: { refund_pence: 5, ...because },
    others: [
      [{ refund_pence: 6 }, ['refund_pence']],
      [{ refund_pence: undefined, all: true }, ['refund_pence']],
      [{ refund_pence: 6, reason: 'Another.' }, ['refund_pence', 'reason']],
    ],
    adds: 'PremiumRefundOwed',
  },
  {
    name: 'giving all of a premium back',
    prepare: paid,
    at: async (id) => `${firstPremium(await load(sales, id))}/refund`,
    first: { all: true, ...because },
    others: [
      [{ refund_pence: 5, all: undefined }, ['refund_pence']],
      [{ reason: 'Another.' }, ['reason']],
    ],
    adds: 'PremiumRefundOwed',
  },
]

describe.each(acts)('$name', ({ prepare, at, first, others, adds }) => {
  const open = async () => {
    const id = await prepare(sales)
    const address = `/admin/v1/organisations/${organisation_id}/policies/${id}/${await at(id)}`
    const before = await sales.typesOf(`policy-${id}`)
    return {
      send: (body: Sent, key = 'once', process: Pick<Sales, 'post'> = sales) =>
        process.post(address, body, { 'idempotency-key': key }),
      added: async () => (await sales.typesOf(`policy-${id}`)).slice(before.length),
    }
  }

  test('the same content with the same key is answered as the first time, and is done once', async () => {
    const { send, added } = await open()

    const answered = await send(first)
    const again = await send(first)

    expect(answered.status).toBeLessThan(300)
    expect([again.status, again.body]).toEqual([answered.status, answered.body])
    expect(await added()).toEqual([adds])
  })

  test.each(others)('409 idempotency_key_conflict: %j names %j, and nothing is changed', async (differing, inputs) => {
    const { send, added } = await open()
    const answered = await send(first)

    const refused = await send({ ...first, ...differing })

    const fields = Object.fromEntries(inputs.map((input) => [input, 'differs from what the key started']))
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'idempotency_key_conflict', fields } } })
    expect(Object.keys((refused.body as { error: { fields: object } }).error.fields)).toEqual(inputs)
    expect((refused.body as { error: { message: string } }).error.message).toContain(inputs.join(', '))
    expect(await added()).toEqual([adds])
    expect(await send(first)).toMatchObject({ status: answered.status, body: answered.body })
  })

  test('of two that differ at once, to two processes, one is done and the other is refused', async () => {
    const { send, added } = await open()
    await using other = await sales.startProcess()
    const [differing] = others[0] ?? expect.fail('Nothing differs.')

    const answers = await Promise.all([send(first), send({ ...first, ...differing }, 'once', other)])

    expect(answers.filter(({ status }) => status < 300)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 409)).toMatchObject([
      { body: { error: { code: 'idempotency_key_conflict' } } },
    ])
    expect(await added()).toEqual([adds])
  })

  test.each([
    ['longer than 255 characters', 'x'.repeat(256)],
    ['with a control character', 'one\u0085two'],
  ])('422 validation_failed: a key %s', async (_how, key) => {
    const { send, added } = await open()

    expect(await send(first, key)).toMatchObject({
      status: 422,
      body: { error: { fields: { 'Idempotency-Key': expect.stringContaining('at most 255 characters') as string } } },
    })

    expect(await added()).toEqual([])
  })
})

test('a claim that was decided is still found by what it was opened with', async () => {
  const id = await sold(sales)
  const base = `/admin/v1/organisations/${organisation_id}/policies/${id}/claims`
  const key = { 'idempotency-key': 'once' }
  const { claim_id } = ((await sales.post(base, claim, key)).body as { data: { claim_id: string } }).data
  const approval = { decision: 'approve', amount_pence: 900_000, note: 'A part of it.' }
  expect((await sales.post(`${base}/${claim_id}/decisions`, approval)).status).toBe(200)

  const again = await sales.post(base, claim, key)
  const asDecided = await sales.post(base, { ...claim, amount_pence: 900_000, note: 'A part of it.' }, key)

  expect(again).toMatchObject({ status: 201, body: { data: { claim_id, status: 'approved', amount_pence: 900_000 } } })
  expect(asDecided).toMatchObject({ status: 409, body: { error: { code: 'idempotency_key_conflict' } } })
})
