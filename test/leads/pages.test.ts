import { afterAll, beforeAll, expect, test } from 'vitest'
import { contact_id, organisation_id, website } from './builders.ts'
import { openLeads, type Fixture } from './fixture.ts'

const admin = `/admin/v1/organisations/${organisation_id}`
const many = 11

let fixture: Fixture
beforeAll(async () => {
  fixture = await openLeads()
  await fixture.send(website, { contact_id })
  for (let index = 1; index < many; index++) await fixture.send()
  const report = { type: 'commission_paid', occurred_at: '2026-01-15T12:00:00Z' }
  for (let index = 0; index < many; index++) {
    await fixture.post('/api/v1/crm/outcomes', { ...report, contact_id, values: { commission: index } })
    const lead = { email: `nobody-${index}@example.org`, match_on_details: true }
    await fixture.post('/api/v1/crm/outcomes', { ...report, lead })
  }
  await fixture.settled()
}, 60_000)
afterAll(() => fixture[Symbol.asyncDispose]())

type Page = { readonly data: readonly object[]; readonly next_cursor: string | null }

const page = async (path: string, limit: number, cursor: string | null): Promise<Page> => {
  const { status, body } = await fixture.get(`${path}?limit=${limit}${cursor === null ? '' : `&cursor=${cursor}`}`)
  expect(status).toBe(200)
  return body as Page
}

const walk = async (path: string, limit: number): Promise<readonly object[]> => {
  const found: object[] = []
  let cursor: string | null = null
  for (;;) {
    const { data, next_cursor }: Page = await page(path, limit, cursor)
    found.push(...data)
    if (data.length < limit) return found
    cursor = next_cursor
  }
}

test.each([
  ['/api/v1/crm/leads', many],
  ['/api/v1/crm/events', 2 * many],
  ['/api/v1/crm/outcomes', many],
  [`${admin}/leads`, many],
  [`${admin}/lead_events`, 2 * many],
  [`${admin}/leads/${contact_id}/timeline`, many + 1],
  [`${admin}/outcomes`, many],
  [`${admin}/held_outcomes`, many],
])('%s shows all that has one and the same time, on pages of any length, each once', async (path, count) => {
  const whole = await walk(path, 200)
  expect(whole).toHaveLength(count)
  for (const limit of [1, 4, many]) expect(await walk(path, limit)).toEqual(whole)
})
