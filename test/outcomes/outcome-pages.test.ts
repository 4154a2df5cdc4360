import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { Position } from '#domain/event.ts'
import { transaction } from '#infra/postgres/postgres.ts'
import { placesBehind } from '../../projections/place.ts'
import { leadService, stranger, type LeadService } from '../ingests/fixture.ts'

let service: LeadService
beforeAll(async () => {
  service = await leadService()
}, 60_000)
afterAll(async () => service[Symbol.asyncDispose]())

type Page = readonly { readonly id: string }[]

const address = '/api/v1/crm/outcomes'
const bySender = () => ({ token: service.sender.token })

const report = async (contact_id: string | undefined): Promise<string> => {
  const body = { contact_id, type: 'quoted', occurred_at: '2026-01-15', values: { premium: 1250 } }
  const { status, body: answered } = await service.send<{ readonly id: string }>('POST', address, {
    ...bySender(),
    body,
  })
  expect(status).toBe(201)
  return answered.data.id
}

const page = async (query: string) => {
  const { status, body } = await service.send<Page>('GET', `${address}${query}`, bySender())
  expect(status).toBe(200)
  return { ids: body.data.map(({ id }) => id), next_cursor: body.next_cursor ?? null }
}

/** How many outcomes of a lead applications are known to see. */
const seen = async (contact_id: string | undefined) =>
  (await service.parts.pool.query('select from outcome_views where contact_id = $1', [contact_id])).rowCount

test('with only crm: an outcome that cannot be shown yet ends the page, and no cursor passes it', async () => {
  const { contact_id } = await service.process({ identity: stranger() })
  const first = await report(contact_id)
  const { next_cursor } = await page(`?contact_id=${contact_id}`)
  const { second } = await transaction(service.parts.pool, async (db) => {
    await db.query('lock table outcomes in exclusive mode')
    const reported = report(contact_id)
    await vi.waitFor(async () => expect(await seen(contact_id)).toBe(2), { timeout: 15_000 })
    expect(await page(`?contact_id=${contact_id}`)).toEqual({ ids: [first], next_cursor })
    expect(await page(`?cursor=${next_cursor}`)).toEqual({ ids: [], next_cursor })
    return { second: reported }
  })
  const id = await second
  expect((await page(`?cursor=${next_cursor}`)).ids).toEqual([id])
}, 60_000)

test('with only crm: an outcome that was set aside and resumed has a place behind all, whose cursor goes on from it', async () => {
  const { contact_id } = await service.process({ identity: stranger() })
  const [one, other] = [await report(contact_id), await report(contact_id)]
  const { rows } = await service.parts.pool.query<{ position: Position }>(
    'select position from outcome_views where id = any ($1) order by 1',
    [[one, other]],
  )
  const [first, last] = rows.map(({ position }) => position)
  if (!first || !last) throw new Error('They are not there.')
  const place = (id: string, position: string) =>
    service.parts.pool.query('update outcome_views set position = $1 where id = $2', [position, id])
  // As outcomes stand that were recorded before an application sent the lead.
  await place(one, placesBehind(last)(`${first}!0000`))
  await place(other, `${last}!0000`)

  const { ids, next_cursor } = await page(`?contact_id=${contact_id}`)
  expect(ids).toEqual([other, one])
  expect(await page(`?contact_id=${contact_id}&cursor=${next_cursor}`)).toEqual({ ids: [], next_cursor })
}, 60_000)
