import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Premium } from '#domain/premiums/record.ts'
import { finish, step, take } from './money-steps.ts'
import { openWorld } from './money-world.ts'

/** What the firm should have of a premium; undefined where the team has closed what would be given back of two payments. */
const money = ({ status, amount_pence, refunds }: Premium): number | undefined => {
  const twice = refunds.filter(({ reason }) => reason === 'paid_twice')
  if (twice.some((refund) => refund.status !== 'refunded')) return undefined
  const refunded = refunds.filter((refund) => refund.status === 'refunded' && refund.reason !== 'paid_twice')
  const given = refunded.reduce((pence, { refund_pence }) => pence + refund_pence, 0)
  return (status === 'collected' ? amount_pence : 0) - given
}

/** Before what is due at the beginning is collected, soon after, and in years. */
const ends = ['2026-07-10', '2026-10-02', '2051-02-02']

test('whatever happens in whatever order, what was collected less what was refunded is what the provider holds', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), fc.constantFrom(...ends), async (steps, end) => {
      const world = await openWorld({ end_date: end })
      for (const [count, each] of steps.entries()) await take(world, each, count)

      await finish(world)

      const { premiums = [], cancellation_reason, cancelled_on = null } = (await world.state()) ?? {}
      for (const { premium_id, covers_from, refunds } of premiums) {
        const isCovered = cancelled_on === null || (cancellation_reason !== 'cooling_off' && covers_from < cancelled_on)
        const isClosedByTeam =
          steps.some(({ act }) => act === 'close') || refunds.some(({ status }) => status === 'paid_otherwise')
        // Nothing is kept for a time that is not covered.
        if (!isCovered && !isClosedByTeam) expect(world.bank.holds(premium_id)).toBeLessThanOrEqual(0)
      }
      for (const { refunded_pence, refunds } of premiums) {
        const counted = refunds
          .filter(({ status }) => status === 'refunded' || status === 'paid_otherwise')
          .filter(({ reason }) => reason !== 'paid_twice')
        expect(refunded_pence).toBe(counted.reduce((sum, { refund_pence }) => sum + refund_pence, 0))
        expect(refunds.filter(({ status }) => status === 'owed')).toEqual([])
      }
      for (const premium of premiums) {
        const { premium_id, status, refunds } = premium
        const taken = world.bank.intents.filter(({ metadata }) => metadata['premium_id'] === premium_id)
        const standing = taken.filter(({ status, is_disputed }) => status === 'succeeded' && !is_disputed)
        const held = money(premium)
        if (held !== undefined) expect(held).toBe(world.bank.holds(premium_id))
        if (!refunds.some(({ reason }) => reason === 'paid_twice'))
          expect(standing.length).toBe(status === 'collected' ? 1 : 0)
        expect(new Set(taken.map(({ metadata }) => metadata['attempt'])).size).toBe(taken.length)
      }
      const months = premiums.filter(({ status }) => status === 'collected').map(({ covers_from }) => covers_from)
      expect(new Set(months).size).toBe(months.length)
    }),
    { numRuns: 60 },
  )
})
