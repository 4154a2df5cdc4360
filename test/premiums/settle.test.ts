import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shareOfHistories } from './histories.ts'
import { expectItToAddUp, finish, step, take } from './settle-steps.ts'
import { openSettleWorld } from './settle-world.ts'

test.each([
  ['a card', true],
  ['Direct Debit', false],
])(
  'whatever happens to a premium that is paid by %s, one payment is kept, and it is recorded',
  { timeout: 600_000 },
  (_how, isByCard) => {
    const property = fc.property(fc.array(step, { minLength: 3, maxLength: 30 }), (steps) => {
      const world = openSettleWorld(isByCard)
      for (const [count, each] of steps.entries()) take(world, each, count)
      finish(world)
      expectItToAddUp(world)
    })

    expect(() => fc.assert(property, { numRuns: shareOfHistories(0.45, 250) })).not.toThrow()
  },
)
