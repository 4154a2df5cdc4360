import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shareOfHistories } from './histories.ts'
import { expectItToAddUp, finish, step, take, type Step } from './settle-steps.ts'
import { openSettleWorld } from './settle-world.ts'

/** Part of a payment is taken back, all of which the team has promised: written off, none of the promises stands. */
const promisedTwiceAndWrittenOff: readonly Step[] = [
  { act: 'collect', kill: undefined },
  { act: 'bank settles', at: 0, succeeds: true, told: true },
  { act: 'team refunds', pence: 500 },
  { act: 'team refunds', pence: null },
  { act: 'dispute', at: 0, pence: 1_000, told: true },
  { act: 'write off' },
]

/** Our request was killed before its answer, and what was given back by hand meanwhile has come back. */
const unansweredAndComeBack: readonly Step[] = [
  { act: 'team refunds', pence: null },
  { act: 'by hand', at: 0, pence: 2_875, told: false },
  { act: 'give back', kill: 'done' },
  { act: 'dispute', at: 0, pence: 1_000, told: false },
  { act: 'look', at: 0 },
  { act: 'refund fails', at: 0, told: false },
  { act: 'lose', at: 0, told: false },
]

/** A gift comes back in the moment in which the payment that it was of counts again: the premium is paid twice, in full. */
const giftComesBack: readonly Step[] = [
  { act: 'by hand', at: 0, pence: 400, told: false },
  { act: 'dispute', at: 0, pence: null, told: true },
  { act: 'team retries' },
  { act: 'collect', kill: undefined },
  { act: 'refund fails', at: 0, told: false },
  { act: 'bank settles', at: 1, succeeds: true, told: false },
  { act: 'collect', kill: undefined },
  { act: 'win', at: 0, told: false },
  { act: 'look', at: 1 },
]

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

    const examples: [Step[]][] = [promisedTwiceAndWrittenOff, unansweredAndComeBack, giftComesBack].map((each) => [
      [...each],
    ])
    expect(() => fc.assert(property, { numRuns: shareOfHistories(0.45, 250), examples })).not.toThrow()
  },
)
