import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shareOfHistories } from './histories.ts'
import { finish, oftenDisputed, step, take, type Step } from './money-steps.ts'
import { openWorld } from './money-world.ts'

/** Before what is due at the beginning is collected, soon after, and in years. */
const ends = ['2026-07-10', '2026-10-02', '2051-02-02']

/** Takes the steps, brings all to its end, and says what is wrong with the money then. */
const expectItToAddUp = async (steps: readonly Step[], end_date: string, is_by_card: boolean): Promise<void> => {
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
    // By hand more may be given back than the premium comes to, of one payment and of the next.
    if (status === 'collected' && !isTakenAndGiven) expect(held).toBe(Math.max(0, amount_pence - refunded_pence))
  }
  const months = premiums.filter(({ status }) => status === 'collected').map(({ covers_from }) => covers_from)
  expect(new Set(months).size).toBe(months.length)
}

test.each([
  ['whatever happens in whatever order', step, shareOfHistories(0.025, 60)],
  [
    'when a premium is disputed, collected again and won back time and again',
    oftenDisputed,
    shareOfHistories(0.025, 100),
  ],
])(
  '%s, what was collected less what was refunded is what the provider holds, and no payment is kept twice, or for nothing',
  { timeout: 600_000 },
  async (_title, happening, numRuns) => {
    const histories = fc.array(happening, { minLength: 5, maxLength: 40 })
    for (const is_by_card of [false, true]) {
      const property = fc.asyncProperty(histories, fc.constantFrom(...ends), fc.constant(is_by_card), expectItToAddUp)
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
  [
    'by hand, and came back while all of it was given back, within the cooling-off period and by a process that was killed',
    [
      { act: 'refund at the provider', at: 0, pence: 50, told: true },
      { act: 'refund fails', at: 0, told: false },
      { act: 'cancel', cooling_off: true },
      { act: 'fire', at: 0, kill: 'after' },
    ],
  ],
])('what was given back of a card payment %s, is recorded', async (_title, steps) => {
  await expect(expectItToAddUp(steps, '2026-07-10', true)).resolves.toBeUndefined()
})
