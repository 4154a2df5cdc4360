import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { leadService, type LeadService, type Shown } from './fixture.ts'

let service: LeadService
beforeAll(async () => {
  service = await leadService()
}, 60_000)
afterAll(async () => service[Symbol.asyncDispose]())

test('a lead does not wait for the thousand that another firm has sent before it', { timeout: 120_000 }, async () => {
  const other = await service.organisation('other-firm')
  const client = await service.client(other, ['read', 'write', 'crm'])
  const file = (upload: string) =>
    service.send('POST', `${service.admin}/uploaded_leads`, {
      body: {
        upload,
        rows: Array.from({ length: 200 }, (_, line) => ({
          line: line + 2,
          fields: { email: `${upload}-${line}@example.com` },
        })),
      },
    })
  const count = async (type: string, before = '9') => {
    const { rows } = await service.database.pool.query<{ count: number }>(
      `select count(*)::integer as count from event_log.event where type = $1 and metadata ->> 'organisation_id' = $2
       and recorded_at < coalesce((select recorded_at from event_log.event where id::text = $3), now())`,
      [type, service.organisation_id, before],
    )
    return rows[0]?.count ?? 0
  }
  const files = ['one', 'two', 'three', 'four', 'five'].map(file)
  await vi.waitFor(async () => expect(await count('IngestReceived')).toBe(1_000), { timeout: 60_000, interval: 10 })
  const { body } = await service.post({ identity: { email: 'one@example.com' } }, {}, client)
  const applied: Shown = await service.settled(body.data.id, client)

  expect(applied.status).toBe('applied')
  const events = await service.parts.eventLog.read(`ingest-${applied.id}`)
  const done = events.find(({ type }) => type === 'IngestApplied')
  expect(await count('IngestApplied', done?.id)).toBeLessThan(900)
  await Promise.all(files)
  await vi.waitFor(async () => expect(await count('IngestApplied')).toBe(1_000), { timeout: 60_000, interval: 100 })
})
