import { afterAll, beforeAll, expect, test } from 'vitest'
import { listen } from '#infra/http/listen.ts'
import { startCommandApi } from '../../command-api/command-api.ts'
import { leadService, type LeadService, type Shown } from './fixture.ts'

let service: LeadService
let origins: readonly string[]
let end: () => Promise<void>
beforeAll(async () => {
  service = await leadService()
  const ending = new AbortController()
  const second = await startCommandApi({ ...service.parts, signal: ending.signal })
  const { port, close } = await listen(second.app, '127.0.0.1', 0)
  origins = [service.origin, `http://127.0.0.1:${port}`]
  end = async () => {
    await close()
    ending.abort()
    await second.stop()
  }
}, 60_000)
afterAll(async () => {
  await end()
  await service[Symbol.asyncDispose]()
})

/** Sends the same twenty times at once, by turns to both. */
const twenty = (body: object, headers: Record<string, string> = {}) =>
  Promise.all(
    Array.from({ length: 20 }, async (_, index) => {
      const answer = await fetch(`${origins[index % 2]}/api/v1/crm/ingests`, {
        method: 'POST',
        headers: { authorization: `Bearer ${service.sender.token}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      })
      return { status: answer.status, data: ((await answer.json()) as { data: Shown }).data }
    }),
  )

test.each([
  ['with a key', { 'idempotency-key': 'twenty at once' }],
  ['without a key', undefined],
])('the same lead twenty times at once through two processes is received once, %s', async (how, headers) => {
  const email = `${how.replaceAll(' ', '-')}@example.com`
  const answers = await twenty({ source: 'website', identity: { email } }, headers)

  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]))
  expect(new Set(answers.map(({ data }) => data.id)).size).toBe(1)
  expect(answers.filter(({ data }) => data.duplicate !== true)).toHaveLength(1)
  const [{ data } = { data: undefined }] = answers
  expect(await service.settled(data?.id ?? '')).toMatchObject({ status: 'applied', activities_written: 0 })
  // Of the repeats no key is kept, and the lead's own still opens what was sent.
  const { rows } = await service.database.pool.query(
    `select subject from data_key where subject like 'ingest-%' and not exists (
       select from event_log.event where stream = subject)`,
  )
  expect(rows).toEqual([])
})

test('twenty leads of one person at once through two processes make one lead', async () => {
  const sent = await Promise.all(
    Array.from({ length: 20 }, async (_, index) => {
      const answer = await fetch(`${origins[index % 2]}/api/v1/crm/ingests`, {
        method: 'POST',
        headers: { authorization: `Bearer ${service.sender.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          source: 'website',
          identity: { email: 'one.person@example.com' },
          text: `Call ${index}`,
        }),
      })
      return ((await answer.json()) as { data: Shown }).data.id
    }),
  )

  expect(new Set(sent).size).toBe(20)
  const done = await Promise.all(sent.map(async (id) => service.settled(id)))
  expect(new Set(done.map(({ status }) => status))).toEqual(new Set(['applied']))
  expect(new Set(done.map(({ contact_id }) => contact_id)).size).toBe(1)
  const { rows } = await service.database.pool.query<{ count: number }>(
    `select count(*)::integer as count from event_log.event where type = 'LeadCreated' and stream = $1`,
    [`lead-${done[0]?.contact_id}`],
  )
  expect(rows).toEqual([{ count: 1 }])
})
