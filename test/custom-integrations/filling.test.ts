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

/** Each step of it takes long, and nothing is looked at meanwhile. */
const endless = task(
  `{% for a in list %}{{ list | sum }}{% for b in list %}{% if list contains "x" %}{% endif %}{% endfor %}{% endfor %}`,
)
const long = task(
  '{% assign big = (1..900000) %}{% if big contains "x" %}{% endif %}{% if big contains "y" %}{% endif %}',
)
const short = task('Hello {{ name }}')

test('templates that take long hold up nothing else of this process', async () => {
  await using own = filling({ mostMs: 60_000 })
  await own.fill('any', short)
  let turns = 0
  const turning = setInterval(() => turns++, 1)
  const slow = own.fill('hostile', endless).catch((error: unknown) => error)
  const turnsBefore = turns
  await vi.waitUntil(() => turns > turnsBefore + 5, { timeout: 20_000, interval: 1 })
  clearInterval(turning)

  expect(await slow).toMatchObject({ message: expect.stringContaining('cannot be used') as unknown })
})

test('the organisation that has used least comes next, however much another one waits for', async () => {
  await using own = filling({ mostMs: 60_000 })
  const ended: string[] = []
  const fill = (organisation: string, given: typeof short) =>
    own.fill(organisation, given).then(
      () => ended.push(organisation),
      () => ended.push(organisation),
    )
  await own.fill('any', short)

  await Promise.all([
    ...Array.from({ length: 5 }, () => fill('hostile', endless)),
    ...Array.from({ length: 20 }, () => fill('other', short)),
  ])

  expect(ended.slice(0, 21)).toEqual(['hostile', ...Array.from({ length: 20 }, () => 'other')])
})

test('a template that does not end costs its thread, and its organisation a rest; all others go on', async () => {
  let now = 0
  await using own = filling({ mostMs: 1, monotonicMs: () => now })
  await expect(own.fill('hostile', long)).rejects.toThrow('take too long')

  await expect(own.fill('hostile', short)).rejects.toThrow('None of the organisation is used for a minute')
  await using calm = filling()
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
