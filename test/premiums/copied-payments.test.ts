import { expect, test } from 'vitest'
import { openWorld } from './money-world.ts'

/** Somebody of the firm has made a payment by hand at the provider, and copied what is written down with one of ours. */

test.each([
  ['1', 'succeeded'],
  ['2', 'processing'],
  ['0', 'succeeded'],
] as const)(
  'a payment that was made by hand, said to be attempt %s, is taken for no payment of ours',
  async (attempt, status) => {
    const { bank, due, fire, state, tell } = await openWorld()
    await fire(due().find(({ kind }) => kind === 'policy_premium') ?? expect.fail())
    const before = [await state(), due()]
    const [ours] = bank.intents
    if (!ours) expect.fail()
    bank.intents.push({ ...ours, id: 'pi_9', status, metadata: { ...ours.metadata, attempt } })

    await tell('payment_intent.succeeded', 1)

    expect([await state(), due()]).toEqual(before)
    ours.status = 'succeeded'
    await tell('payment_intent.succeeded', 0)
    expect((await state())?.premiums).toMatchObject([{ status: 'collected', payment_intent_id: 'pi_1' }])
  },
)
