import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Premium } from '#domain/premiums/record.ts'
import { shareOfHistories } from './histories.ts'
import { finish, oftenDisputed, step, take, type Step } from './money-steps.ts'
import { openWorld } from './money-world.ts'

/** Before what is due at the beginning is collected, soon after, and in years. */
const ends = ['2026-07-10', '2026-10-02', '2051-02-02']

/** Takes the steps, brings all to its end, and says what is wrong with the money then. Answers what became of the premiums. */
const expectItToAddUp = async (
  steps: readonly Step[],
  end_date: string,
  is_by_card: boolean,
): Promise<readonly Premium[]> => {
  const world = await openWorld({ end_date, is_by_card })
  for (const [count, each] of steps.entries()) await take(world, each, count)

  await finish(world)

  const { premiums = [], cancellation_reason, cancelled_on = null } = (await world.state()) ?? {}
  for (const premium of premiums) {
    const { premium_id, number, status, amount_pence, covers_from, refunded_pence, refunds } = premium
    const taken = world.bank.intents.filter(
      ({ metadata }) => metadata['premium_id'] === premium_id || (number === 1 && 'payment_id' in metadata),
    )
    const held = world.bank.holds(taken)
    const atProvider = taken.reduce((sum, each) => sum + each.refunded_pence, 0)
    const recorded = refunds.filter((refund) => refund.status === 'refunded')
    expect(recorded.reduce((sum, { refund_pence }) => sum + refund_pence, 0)).toBe(atProvider)
    expect(new Set(taken.map(({ metadata }) => metadata['attempt'])).size).toBe(taken.length)
    expect(new Set(refunds.map(({ refund_id }) => refund_id)).size).toBe(refunds.length)
    expect(refunds.filter((refund) => refund.status === 'owed')).toEqual([])
    const counted = refunds
      .filter((refund) => refund.status === 'refunded' || refund.status === 'paid_otherwise')
      .filter(({ reason }) => reason !== 'paid_twice')
    expect(refunded_pence).toBe(counted.reduce((sum, { refund_pence }) => sum + refund_pence, 0))
    const isClosedByTeam =
      steps.some(({ act }) => act === 'close') || refunds.some((refund) => refund.status === 'paid_otherwise')
    if (isClosedByTeam) continue
    // Nothing is kept for a time that is not covered, nor of what is paid no more.
    const isCovered = cancelled_on === null || (cancellation_reason !== 'cooling_off' && covers_from < cancelled_on)
    if (!isCovered) expect(held).toBeLessThanOrEqual(0)
    // Of what a bank has taken back although it was given back, a part is missing.
    else if (status !== 'collected') expect(held).toBeLessThan(Math.max(1, amount_pence - refunded_pence))
    // One payment is kept and no more; and no less, but for what a bank has taken back although it was given back.
    expect(held).toBeLessThanOrEqual(Math.max(0, amount_pence - refunded_pence))
    const isTakenAndGiven = taken.some(({ is_disputed, refunded_pence: given }) => is_disputed && given > 0)
    if (status === 'collected' && !isTakenAndGiven) expect(held).toBe(amount_pence - refunded_pence)
  }
  const months = premiums.filter(({ status }) => status === 'collected').map(({ covers_from }) => covers_from)
  expect(new Set(months).size).toBe(months.length)
  return premiums
}

test.each([
  ['whatever happens in whatever order', step, shareOfHistories(0.025, 60)],
  [
    'when a premium is disputed, collected anew and won back time and again',
    oftenDisputed,
    shareOfHistories(0.025, 100),
  ],
])(
  '%s, what was collected less what was refunded is what the provider holds, and no payment is kept twice, or for nothing',
  { timeout: 600_000 },
  async (_title, happening, numRuns) => {
    const histories = fc.array(happening, { minLength: 5, maxLength: 40 })
    for (const is_by_card of [false, true]) {
      const property = fc.asyncProperty(
        histories,
        fc.constantFrom(...ends),
        fc.constant(is_by_card),
        async (...history) => void (await expectItToAddUp(...history)),
      )
      await expect(fc.assert(property, { numRuns })).resolves.toBeUndefined()
    }
  },
)

test.each<readonly [string, readonly Step[]]>([
  [
    'by hand, before the payer’s bank took it back',
    [
      { act: 'refund at the provider', at: 0, pence: 2_875, told: false },
      { act: 'dispute', at: 0, told: true },
      { act: 'collect', succeeds: true },
    ],
  ],
  [
    'by a process that was killed then, before the payer’s bank took it back',
    [
      { act: 'cancel', cooling_off: true },
      { act: 'fire', at: 0, kill: 'before' },
      { act: 'dispute', at: 0, told: false },
    ],
  ],
  [
    'by hand, and failed after the payer’s bank took it back',
    [
      { act: 'refund at the provider', at: 0, pence: 50, told: true },
      { act: 'cancel', cooling_off: true },
      { act: 'dispute', at: 0, told: true },
      { act: 'refund fails', at: 0, told: true },
    ],
  ],
])('what was given back of a card payment %s, is recorded', async (_title, steps) => {
  await expect(expectItToAddUp(steps, '2026-07-10', true)).resolves.toBeDefined()
})

const disputed = (at: number) => ({ act: 'dispute', at, told: true }) as const
const won = (at: number) => ({ act: 'win', at, told: true }) as const
const collected = (succeeds: boolean) => ({ act: 'collect', succeeds }) as const
const byHand = (at: number, pence: 50 | 400 | 2_875, told = true) =>
  ({ act: 'refund at the provider', at, pence, told }) as const
const fails = { act: 'refund fails', at: 0, told: false } as const
const again = { act: 'retry', at: 0 } as const
const refundAll = { act: 'refund', at: 0, pence: null } as const
const coolOff = { act: 'cancel', cooling_off: true } as const

test.each<readonly [string, readonly Step[]]>([
  [
    'what is given back after a dispute was won is owed by the card payment, also where it was owed before the dispute',
    [refundAll, disputed(0), won(0), refundAll],
  ],
  [
    'what was owed of a debit can be closed once the card pays again',
    [disputed(0), collected(true), won(0), refundAll, disputed(1), collected(false)],
  ],
  [
    'the won card payment that was given back by hand, whose refund failed, can be closed or tried',
    [disputed(0), collected(true), won(0), byHand(0, 2_875), fails, disputed(1), won(1), disputed(0), won(0)],
  ],
  [
    'parts that were given back by hand stand when what was given back whole has failed',
    [byHand(0, 2_875), fails, byHand(0, 50, false), byHand(0, 50), disputed(0)],
  ],
  [
    'a part that failed before all was given back is not owed, and all is recorded',
    [byHand(0, 50, false), fails, byHand(0, 2_875), disputed(0)],
  ],
  [
    'two payments that stand while a third is asked for in vain: one is given back',
    [disputed(0), collected(true), disputed(1), again, won(0), won(1), collected(false)],
  ],
  [
    'a card payment that was given back by hand while it was to be asked for anew, and lost, is owed to nobody',
    [disputed(0), again, won(0), byHand(0, 2_875), fails, disputed(0), collected(false), collected(true)],
  ],
  [
    'what has come back of a part of the card is owed once a debit has paid a policy that is cancelled',
    [byHand(0, 400), fails, disputed(0), again, collected(true), coolOff],
  ],
  [
    'parts that make up what was paid twice are one payment, not two',
    [disputed(0), collected(true), won(0), byHand(1, 400), byHand(0, 2_875), disputed(1), collected(false), won(1)],
  ],
  [
    'what is given back of the card is recorded whole beside a part of a debit that was lost',
    [disputed(0), collected(true), byHand(1, 400), disputed(1), won(0), byHand(0, 2_875)],
  ],
  [
    'what was made, failed, and was closed meanwhile is made anew',
    [
      { act: 'lose answers', collections: 0, refunds: 1 },
      coolOff,
      { act: 'fire', at: 0, kill: undefined },
      { act: 'dispute', at: 0, told: false },
      { act: 'win', at: 0, told: false },
      fails,
    ],
  ],
  [
    'what was given back of a cancelled policy, won and come back is left to the team',
    [coolOff, { act: 'fire', at: 0, kill: 'before' }, disputed(0), byHand(0, 50), won(0), fails],
  ],
  [
    'a debit that pays once the card is lost is given back of a policy that was cancelled',
    [disputed(0), collected(true), disputed(1), won(0), won(1), coolOff, again, disputed(0)],
  ],
  [
    'what is given back by hand after the whole has failed is recorded beside it',
    [
      byHand(0, 2_875),
      disputed(0),
      collected(true),
      { act: 'refund fails', at: 0, told: true },
      byHand(1, 400),
      won(0),
      { act: 'fire', at: 0, kill: undefined },
      disputed(1),
    ],
  ],
  [
    'a payment that was given back pays for none of two that stood beside the one that is asked for',
    [disputed(0), collected(true), won(0), byHand(1, 2_875), disputed(1), again, won(1), disputed(0)],
  ],
])('of a first premium by card beside a debit, %s', async (_title, steps) => {
  await expect(expectItToAddUp(steps, '2026-07-10', true)).resolves.toBeDefined()
})

test.each<readonly [string, readonly Step[]]>([
  [
    'the debit was given back by us',
    [disputed(0), collected(true), won(0), { act: 'fire', at: 0, kill: undefined }, refundAll],
  ],
  ['the debit is about to be given back', [disputed(0), collected(true), won(0), refundAll]],
  ['the debit was given back by hand', [disputed(0), collected(true), won(0), byHand(1, 2_875), refundAll]],
  [
    'the debit was given back, and the policy is cancelled',
    [disputed(0), collected(true), won(0), byHand(1, 2_875), coolOff],
  ],
  [
    'the card was given back by hand',
    [disputed(0), collected(true), disputed(1), won(0), won(1), byHand(0, 2_875), refundAll],
  ],
  [
    'the card was given back by hand, and the policy is cancelled',
    [disputed(0), collected(true), disputed(1), won(0), won(1), byHand(0, 2_875), coolOff],
  ],
])(
  'of a premium paid by card and by debit, of which %s, the other gives it back without the team',
  async (_title, steps) => {
    const [premium] = await expectItToAddUp(steps, '2026-07-10', true)

    expect(premium?.refunds.map(({ status }) => status)).toEqual(['refunded', 'refunded'])
  },
)
