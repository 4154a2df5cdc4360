import { expect, test, vi } from 'vitest'
import type { IntegrationEndpoint } from '#domain/custom-integrations/events.ts'
import { makeFilling } from '../../delivery-worker/custom-integrations/filling.ts'

const filling = (options: Parameters<typeof makeFilling>[0] = {}) => {
  const made = makeFilling(options)
  return { ...made, [Symbol.asyncDispose]: made.close }
}

const task = (body_template: string) => {
  const headers = { 'Content-Type': 'text/plain' }
  const endpoint: IntegrationEndpoint = { key: 'add', method: 'POST', path: '/', headers, body_template }
  return { endpoint, envelope: { list: Array.from({ length: 20_000 }, (_, index) => index), name: 'Ada' } }
}

/** One step of it takes seconds, and nothing is looked at meanwhile. */
const endless = task('{% assign big = (1..1900000) %}{{ big | has_exp: "a", "a == 0" }}')
const long = task(
  '{% assign big = (1..900000) %}{% if big contains "x" %}{% endif %}{% if big contains "y" %}{% endif %}',
)
const short = task('Hello {{ name }}')

test('templates that take long hold up nothing else of this process', async () => {
  await using own = filling({ mostMs: 60_000 })
  await own.fill('any', short)
  let turns = 0
  let isOver = false
  const turning = setInterval(() => turns++, 1)
  const slow = own.fill('hostile', endless).finally(() => (isOver = true))
  await vi.waitUntil(() => turns > 5, { timeout: 60_000, interval: 1 })
  clearInterval(turning)

  expect(isOver).toBe(false)
  await Promise.all([expect(slow).rejects.toThrow('The worker stops'), own.close()])
})

test('the organisation that has used least comes next, however much another one waits for', async () => {
  // Each task takes one look at the clock.
  let now = 0
  await using own = filling({ mostMs: 60_000, monotonicMs: () => ++now })
  const ended: string[] = []
  const fill = async (organisation: string) => {
    await own.fill(organisation, short)
    ended.push(organisation)
  }

  await Promise.all([
    ...Array.from({ length: 50 }, () => fill('hostile')),
    ...Array.from({ length: 5 }, () => fill('other')),
    fill('third'),
  ])

  expect(ended).toHaveLength(56)
  // By turns: before each of the other's, each of the others has at most one.
  expect(ended.lastIndexOf('other')).toBeLessThanOrEqual(11)
  expect(ended.indexOf('third')).toBeLessThanOrEqual(3)
})

test('a template that does not end costs its thread, and its organisation a rest; all others go on', async () => {
  let now = 0
  await using own = filling({ mostMs: 1, monotonicMs: () => now })
  await expect(own.fill('hostile', long)).rejects.toThrow('take too long')

  await expect(own.fill('hostile', short)).rejects.toThrow('None of the organisation is used for a minute')
  await using calm = filling({ mostMs: 60_000 })
  expect(await calm.fill('other', short)).toMatchObject({ path: '/', body: 'Hello Ada' })
  now += 60_001
  await expect(own.fill('hostile', long)).rejects.toThrow(/take too long, or too much memory\.$/)
})

test('what has no template waits for no thread, and what waits when the worker stops is given up', async () => {
  const own = makeFilling()
  const waiting = own.fill('any', short)
  expect(await own.fill('any', task('as it stands'))).toMatchObject({ body: 'as it stands' })
  await Promise.all([expect(waiting).rejects.toThrow('The worker stops'), own.close()])
  await expect(own.fill('any', short)).rejects.toThrow('The worker stops')
})
