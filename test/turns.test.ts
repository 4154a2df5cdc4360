import fc from 'fast-check'
import { expect, test } from 'vitest'
import { takeTurns } from '#infra/turns.ts'

/** What each organisation has waiting, and what is taken of it by turns. */
const waitingOf = (counts: Readonly<Record<string, number>>, mostOfOne = Infinity) => {
  const left = new Map(Object.entries(counts))
  const taken = new Map<string, number>()
  const next = (organisation: string): string | undefined => {
    const [waiting, had] = [left.get(organisation) ?? 0, taken.get(organisation) ?? 0]
    if (waiting === 0 || had >= mostOfOne) return undefined
    left.set(organisation, waiting - 1)
    taken.set(organisation, had + 1)
    return organisation
  }
  return { organisations: new Set(left.keys()), next, taken }
}

test('organisations take turns, each with one at a time, until none has anything left', () => {
  const { organisations, next } = waitingOf({ a: 4, b: 1, c: 2 })

  expect(takeTurns(organisations, next).join('')).toBe('abcacaa')
  expect(organisations.size).toBe(0)
})

test('an organisation that has as much at once as it may have is passed over', () => {
  const { organisations, next } = waitingOf({ a: 100, b: 3 }, 2)

  expect(takeTurns(organisations, next).join('')).toBe('abab')
})

test('who had to wait when the turns were over comes first the next time, and who comes new comes last', () => {
  const { organisations, next } = waitingOf({ a: 9, b: 9, c: 9, d: 9 })
  organisations.delete('d')

  expect(takeTurns(organisations, next, 2).join('')).toBe('ab')
  organisations.add('d')
  expect(takeTurns(organisations, next, 5).join('')).toBe('cabdc')
})

test('a thousand organisations wait for one that has very much no longer than for any other', () => {
  const hostile = 'hostile'
  const others = Object.fromEntries(Array.from({ length: 999 }, (_, number) => [`other ${number}`, 3]))
  const { organisations, next } = waitingOf({ [hostile]: 1_000_000, ...others })

  const first = takeTurns(organisations, next, 3_000)

  expect(first.filter((each) => each === hostile)).toHaveLength(3)
  expect(new Set(first).size).toBe(1_000)
})

test('whatever each has waiting: all of it is taken, and nobody is ahead of another that waits by more than a turn', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.stringMatching(/^[a-z]$/), fc.nat(20)),
      fc.integer({ min: 1, max: 7 }),
      (counts, most) => {
        const { organisations, next, taken } = waitingOf(counts)
        while (organisations.size > 0) {
          takeTurns(organisations, next, most)
          const ofWaiting = [...organisations].map((each) => taken.get(each) ?? 0)
          expect(Math.max(0, ...taken.values()) - Math.min(...ofWaiting)).toBeLessThanOrEqual(1)
        }
        for (const [organisation, count] of Object.entries(counts)) expect(taken.get(organisation) ?? 0).toBe(count)
      },
    ),
  )
})
