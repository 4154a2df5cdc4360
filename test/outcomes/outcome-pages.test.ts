import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { Position } from '#domain/event.ts'
import { countSetAside, requestResume } from '#infra/consumers/set-aside.ts'
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

test('with only crm: an outcome that is set aside holds nobody up, and comes behind all when it is resumed', async () => {
  const { pool } = service.parts
  const [broken, sound] = [
    await service.process({ identity: stranger() }),
    await service.process({ identity: stranger() }),
  ]
  const first = await report(broken.contact_id)
  const { next_cursor } = await page('')
  const record = `outcomes-${broken.contact_id}`
  await pool.query(`alter table outcomes add constraint no_more check (contact_id <> '${broken.contact_id}') not valid`)

  const waiting = await report(broken.contact_id)
  const other = await report(sound.contact_id)
  const passed = await page(`?cursor=${next_cursor}`)
  expect(passed.ids).toEqual([other])

  await pool.query('alter table outcomes drop constraint no_more')
  expect(await requestResume(pool, 'outcomes', record)).toBe(1)
  await vi.waitFor(async () => expect(await countSetAside(pool, 'outcomes')).toBe(0), { timeout: 60_000 })
  expect((await page(`?cursor=${passed.next_cursor}`)).ids).toEqual([waiting])
  expect((await page(`?contact_id=${broken.contact_id}`)).ids).toEqual([first, waiting])
}, 60_000)

test('with only crm: what was recorded before an application sent the lead keeps its order when it is placed behind all', async () => {
  const { contact_id } = await service.process({ identity: stranger() })
  const [one, other] = [await report(contact_id), await report(contact_id)]
  const { rows } = await service.parts.pool.query<{ position: Position }>(
    'select distinct position from outcomes where id = any ($1) order by 1',
    [[one, other]],
  )
  const [first, last] = rows.map(({ position }) => position)
  if (!first || !last) throw new Error('They are not there.')
  const place = (id: string, position: string) =>
    service.parts.pool.query('update outcomes set position = $1 where id = $2', [position, id])
  // As outcomes stand that were recorded before an application sent the lead.
  await place(one, (await placesBehind(service.parts.pool, { name: 'outcomes' }, last))(`${first}!0000`))
  await place(other, `${last}!0000`)

  const { ids, next_cursor } = await page(`?contact_id=${contact_id}`)
  expect(ids).toEqual([other, one])
  expect(await page(`?contact_id=${contact_id}&cursor=${next_cursor}`)).toEqual({ ids: [], next_cursor })
}, 60_000)
