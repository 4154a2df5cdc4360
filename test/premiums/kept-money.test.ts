import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { finish } from './money-steps.ts'
import { openWorld, type KeptWorld } from './money-world.ts'

/**
 * What the version before payments had streams of their own has left, with every state of money, as it stored it: the events, and
 * what the provider had then, with the keys under which it was asked. A line each; never changed.
 */
type Kept = KeptWorld & { readonly title: string; readonly is_by_card: boolean }

const file = join(import.meta.dirname, 'kept-money.jsonl')
// Written by that version, and never since.
const kept = readFileSync(file, 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Kept)

/** What becomes of each: the status of its premium, what is held for it in the end, and how many payments there are. */
const ends: Readonly<Record<string, readonly [status: string, held: number, payments: number]>> = {
  'paid by card': ['collected', 2875, 1],
  'paid by debit': ['collected', 2875, 1],
  'paid by card and by debit, of which one is to be given back': ['collected', 2875, 2],
  'paid by card and by debit, of which the debit was given back': ['collected', 2875, 2],
  'paid by debit and given back in part by the team': ['collected', 1875, 1],
  'paid by card and given back in part by hand': ['collected', 2475, 1],
  'paid by debit and given back in two parts by hand': ['collected', 2425, 1],
  'disputed by card': ['failed', 0, 1],
  'disputed by debit': ['failed', 0, 1],
  'disputed, and won': ['collected', 2875, 1],
  'disputed, and written off': ['written_off', 0, 1],
  'disputed, and asked for again without an answer yet': ['collected', 2875, 2],
  'failed, and to be tried again': ['collected', 2875, 2],
  'failed for the last time, and left to the team': ['failed', 0, 3],
  'asked for, and not answered yet': ['collected', 2875, 1],
  'asked for, where the answer was lost': ['collected', 2875, 1],
  'written off': ['written_off', 0, 1],
  'to be given back within the cooling-off period, by card': ['collected', 0, 1],
  'to be given back within the cooling-off period, by debit': ['collected', 0, 1],
  'given back by debit, where the answer was lost': ['collected', 0, 1],
  'given back by card, where the answer was lost': ['collected', 0, 1],
  'given back by debit by a process that was killed then': ['collected', 0, 1],
  'given back by card, and come back': ['collected', 0, 1],
  'given back by debit, and come back: left to the team': ['collected', 1875, 1],
  'given back, come back, and paid in another way': ['collected', 2875, 1],
  'given back, come back, and owed no more': ['collected', 2875, 1],
  'paid by both, and the debit lost then': ['collected', 2875, 2],
}

test.each(kept)(
  'a premium of the former version that was $title comes to its end',
  async ({ title, is_by_card, ...left }) => {
    const world = await openWorld({ end_date: '2026-07-10', is_by_card, kept: left })

    await finish(world)

    const premium = (await world.state())?.premiums[0]
    expect([premium?.status, world.bank.holds(), world.bank.intents.length]).toEqual(ends[title])
    const given = premium?.refunds.filter(({ status }) => status === 'refunded') ?? []
    expect(given.reduce((sum, { refund_pence }) => sum + refund_pence, 0)).toBe(
      world.bank.intents.reduce((sum, { refunded_pence }) => sum + refunded_pence, 0),
    )
  },
)

const toBeGivenBack = kept.filter(({ title }) => title.includes('to be given back'))

test.each(toBeGivenBack)(
  'a premium of the former version that was $title is owed back still, while the firm has no account',
  async ({ is_by_card, ...left }) => {
    const { account, due, fire, state } = await openWorld({ end_date: '2026-07-10', is_by_card, kept: left })
    account.is_removed = true

    for (const row of due().filter(({ kind }) => kind === 'premium_refund')) await fire(row)

    expect((await state())?.premiums[0]).toMatchObject({
      status: 'collected',
      refunds: [{ status: 'owed', refund_pence: 2_875, failure_code: 'no_account' }],
    })
  },
)

test.each(toBeGivenBack)(
  'a premium of the former version that was $title is left to the team where the account is another one',
  async ({ is_by_card, ...left }) => {
    const { bank, due, fire, state } = await openWorld({ end_date: '2026-07-10', is_by_card, kept: left })
    bank.forgetPayment('pi_1')

    for (let time = 0; time < 10; time++)
      for (const row of due().filter(({ kind }) => kind === 'premium_refund')) await fire(row)

    expect((await state())?.premiums[0]).toMatchObject({
      status: 'collected',
      refunds: [{ status: 'owed', refund_pence: 2_875, failure_code: 'resource_missing', is_left: true }],
    })
  },
)

test('a premium of the former version that failed is asked for again by the account of today', async () => {
  const failed = kept.find(({ title }) => title === 'failed, and to be tried again') ?? expect.fail()
  const world = await openWorld({ end_date: '2026-07-10', kept: failed })
  world.bank.forgetPayment('pi_1')

  for (const row of world.due().filter(({ kind }) => kind === 'premium')) await world.fire(row)

  expect((await world.state())?.premiums[0]).toMatchObject({ status: 'requested', attempt: 2 })
})
