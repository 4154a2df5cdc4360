import { expect, test } from 'vitest'
import { titleCase } from '#infra/addresses/address.ts'
import { boundedCalls } from '#infra/bounded-calls.ts'

test.each([
  ['LONDON', 'London'],
  ['STOKE-ON-TRENT', 'Stoke-on-Trent'],
  ["KING'S LYNN", "King's Lynn"],
  ['ST. IVES', 'St. Ives'],
  ['ASHBY-DE-LA-ZOUCH', 'Ashby-de-la-Zouch'],
  ['THE HUMBERS', 'The Humbers'],
])('the town %s is written %s', (town, written) => {
  expect(titleCase(town)).toBe(written)
})

test('an organisation whose provider hangs leaves room for the calls of others', async () => {
  const calls = boundedCalls({ all: 3, each: 2 })
  const hanging = Promise.withResolvers<string>()
  const answer = async () => 'answered'

  const waiting = [calls('slow', () => hanging.promise), calls('slow', () => hanging.promise)]
  expect(await calls('slow', answer)).toBeUndefined()
  expect(await calls('other', answer)).toBe('answered')

  hanging.resolve('late')
  expect(await Promise.all(waiting)).toEqual(['late', 'late'])
  expect(await calls('slow', answer)).toBe('answered')
})
