import { expect, test, vi } from 'vitest'
import { OrganisationId } from '#domain/values.ts'
import { makeProgress } from '#infra/consumers/progress.ts'
import type { Position } from '#domain/event.ts'
import { makeFollowWaiting } from '../../query-api/work/follow-waiting.ts'
import type { Reading } from '../../query-api/work/waiting.ts'

const one = OrganisationId.parse('6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f')
const other = OrganisationId.parse('0d9e8c7b-6a5f-4e3d-9c2b-1a0f9e8d7c6b')

const following = () => {
  const progress = makeProgress()
  const asked: (readonly OrganisationId[])[] = []
  let at = 0
  let isAway = false
  const follow = makeFollowWaiting({
    progress,
    everyMs: 30,
    log: { warn: () => undefined },
    read: async (organisations) => {
      asked.push(organisations)
      if (isAway) throw new Error('The database is away.')
      at++
      return new Map(organisations.map((id) => [id, { at, waiting: [] }]))
    },
  })
  const pass = (category: string) => progress.passed(category, [category], '1' as Position)
  return {
    asked,
    follow,
    pass,
    away: (is: boolean) => {
      isAway = is
    },
  }
}

test('many who follow an organisation are told by one reading, and those who come later by the same', async () => {
  const { asked, follow } = following()
  const told: Reading[] = []
  const ends = Array.from({ length: 200 }, () => follow(one, (reading) => told.push(reading)))
  await vi.waitUntil(() => told.length >= 200)
  follow(one, (reading) => told.push(reading))()
  ends.forEach((end) => end())

  expect(told.length).toBe(201)
  expect(asked).toEqual([[one]])
})

test('however often read models come further, it is read again once in a time, of all in one statement', async () => {
  const { asked, follow, pass } = following()
  const told: Reading[] = []
  const ends = [one, other].map((id) => follow(id, (reading) => told.push(reading)))
  await vi.waitUntil(() => told.length >= 2)
  asked.length = 0

  const startedAt = performance.now()
  while (performance.now() - startedAt < 100) {
    pass('lead')
    await new Promise(setImmediate)
  }
  await vi.waitUntil(() => asked.length >= 2)
  ends.forEach((end) => end())

  expect(asked.length).toBeLessThanOrEqual(2 + (performance.now() - startedAt) / 30)
  expect(asked.slice(1)).toEqual(asked.slice(1).map(() => [one, other]))
})

test('of a thousand organisations, twenty are read at once, and each comes in its turn', async () => {
  const { asked, follow } = following()
  const told = new Set<OrganisationId>()
  const many = Array.from({ length: 1_000 }, () => OrganisationId.parse(crypto.randomUUID()))
  const ends = many.map((id) => follow(id, () => told.add(id)))
  await vi.waitUntil(() => told.size === many.length)
  ends.forEach((end) => end())

  expect(Math.max(...asked.map((ids) => ids.length))).toBe(20)
})

test('what concerns no work, and what nobody follows, is not read', async () => {
  const { asked, follow, pass } = following()
  const told: Reading[] = []
  const end = follow(one, (reading) => told.push(reading))
  await vi.waitUntil(() => told.length >= 1)

  pass('product')
  end()
  pass('lead')
  const endOther = follow(other, (reading) => told.push(reading))
  await vi.waitUntil(() => told.length >= 2)
  endOther()

  expect(asked).toEqual([[one], [other]])
})

test('a reading that fails is made again, and then told', async () => {
  const { asked, follow, away } = following()
  const told: Reading[] = []
  away(true)
  const end = follow(one, (reading) => told.push(reading))
  await vi.waitUntil(() => asked.length >= 2)
  expect(told).toEqual([])

  away(false)
  await vi.waitUntil(() => told.length === 1)
  end()
})
