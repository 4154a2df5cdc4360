import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { makeBrowser } from '../sign-in/browser.ts'
import { openFirm, organisation_id, type Firm } from '../console/firm.ts'
import { memberOf, usersAddress, type Member } from '../users/team.ts'
import { wholeService } from '../whole-service.ts'
import { openStream } from './event-stream.ts'

/** How much waits for somebody of a firm, shown and told, by two processes that share a database. */

const address = `/admin/v1/organisations/${organisation_id}/work`

let firm: Firm
let second: Awaited<ReturnType<typeof wholeService>>
beforeAll(async () => {
  firm = await openFirm()
  second = await wholeService({}, firm.service.database)
}, 120_000)
afterAll(async () => {
  await second[Symbol.asyncDispose]()
  await firm[Symbol.asyncDispose]()
})

const Work = z.object({
  waiting: z.array(
    z.object({ work: z.string(), count: z.int(), is_more: z.boolean(), first_id: z.string().nullable() }),
  ),
})
type Work = z.output<typeof Work>
const Told = z.object({ data: Work })

const workOf = async ({ key }: Member) =>
  Work.parse((await firm.service.send<Work>('GET', address, { token: key })).body.data)
const countOf = ({ waiting }: Work, work: string) => waiting.find((each) => each.work === work)?.count
const bearing = ({ key }: Member) => ({ authorization: `Bearer ${key}` })
const follow = async (who: Member, headers: Record<string, string> = {}, at = firm.service) =>
  openStream(`${at.origin}${address}`, { ...bearing(who), ...headers })
const told = (event: { readonly data: unknown } | undefined): Work => Told.parse(event?.data).data

const signedIn = async ({ key }: Member) => {
  const browser = makeBrowser(firm.service)
  expect((await browser.signIn(key)).status).toBe(201)
  return { browser, cookie: [...browser.jar].map(([name, value]) => `${name}=${value}`).join('; ') }
}

describe('what waits', () => {
  test('200 is counted for each role by itself, with the record that came last', async () => {
    const before = await workOf(firm.people.uma)
    await firm.sendReferral('First')
    const last = await firm.sendReferral('Last')

    const { waiting } = await workOf(firm.people.uma)

    const count = (countOf(before, 'referred_applications') ?? 0) + 2
    expect(waiting).toEqual([{ work: 'referred_applications', count, is_more: false, first_id: last }])
    expect((await workOf(firm.people.lee)).waiting.map(({ work }) => work)).toEqual([
      'due_leads',
      'open_leads',
      'held_ingests',
      'ingests_in_review',
    ])
    expect((await workOf(firm.people.aud)).waiting).toEqual([])
  })

  test('200 says when it was counted, so that a reading from before is known as such', async () => {
    const read = async () =>
      (await firm.service.send<{ read_at: string }>('GET', address, { token: firm.people.uma.key })).body.data.read_at
    const first = await read()
    const second = await read()

    expect(second > first && Date.parse(first) > 0).toBe(true)
  })

  test('200 a program’s key is shown the work of all', async () => {
    const { body } = await firm.service.send<Work>('GET', address)
    expect(body.data.waiting).toHaveLength(10)
  })

  test('404 another organisation is as one that does not exist', async () => {
    const stranger = await memberOf(firm.service, await firm.service.organisation('strangers'), ['leads'])
    expect((await firm.service.send('GET', address, { token: stranger.key })).status).toBe(404)
    expect((await follow(stranger)).status).toBe(404)
  })

  test('is no access to values of a person', async () => {
    await workOf(firm.people.lee)
    const { rows } = await firm.service.database.pool.query('select from access_record where route like $1', ['%/work'])
    expect(rows).toEqual([])
  })
})

describe('a stream', () => {
  test('tells it at once, and again when it changes, through a proxy that must not wait for more', async () => {
    using stream = await follow(firm.people.uma)
    expect([stream.status, stream.headers['content-type']]).toEqual([200, 'text/event-stream'])
    expect([stream.headers['x-accel-buffering'], stream.headers['cache-control']]).toEqual(['no', 'no-store'])
    const first = told(await stream.next())

    const last = await firm.sendReferral('Told')

    const { waiting } = told(await stream.next())
    expect(waiting[0]?.count).toBe((first.waiting[0]?.count ?? 0) + 1)
    expect(waiting[0]?.first_id).toBe(last)
  })

  test('goes on after the event that was seen last: what is the same is not told again', async () => {
    const before = await follow(firm.people.uma)
    const seen = await before.next()
    before.close()
    using stream = await follow(firm.people.uma, { 'last-event-id': seen?.id ?? '' })

    const last = await firm.sendReferral('Since')

    expect(told(await stream.next()).waiting[0]?.first_id).toBe(last)
  })

  test('tells what has changed while nobody listened, also of an id that is none', async () => {
    for (const id of ['', 'unheard of', `0-${'0'.repeat(16)}`]) {
      using stream = await follow(firm.people.uma, { 'last-event-id': id })
      expect(told(await stream.next())).toEqual(await workOf(firm.people.uma))
    }
  })

  test('429 a user has eight; others are not hindered, and whoever closes one may open another', async () => {
    const open = await Promise.all(Array.from({ length: 8 }, async () => follow(firm.people.una)))

    const ninth = await follow(firm.people.una)
    expect([ninth.status, ninth.headers['retry-after']]).toEqual([429, '15'])
    expect(await ninth.body()).toEqual({
      error: { code: 'rate_limited', message: expect.stringContaining('8 streams') as string },
    })
    using other = await follow(firm.people.uma)
    expect(other.status).toBe(200)

    open[0]?.close()
    await vi.waitUntil(async () => {
      using again = await follow(firm.people.una)
      return again.status === 200
    })
    for (const stream of open) stream.close()
  })
})

describe('a stream ends', () => {
  test('when its user signs out at another process, and has told there only what was new', async () => {
    const { browser, cookie } = await signedIn(firm.people.uma)
    const here = await openStream(`${firm.service.origin}${address}`, { cookie })
    const seen = await here.next()
    here.close()
    const there = await openStream(`${second.origin}${address}`, { cookie, 'last-event-id': seen?.id ?? '' })
    expect(there.status).toBe(200)

    expect((await browser.ask('DELETE', '/admin/v1/session')).status).toBe(200)

    expect(await there.rest()).toEqual([])
  })

  test('when nobody has used the session for eight hours, although the stream was open', async () => {
    const { cookie } = await signedIn(firm.people.cleo)
    const { pool } = firm.service.database
    const usedBefore = async (interval: string) =>
      pool.query(`update user_session set used_at = now() - $2::interval where user_id = $1`, [
        firm.people.cleo.id,
        interval,
      ])
    await usedBefore('7 hours')
    const stream = await openStream(`${firm.service.origin}${address}`, { cookie })
    await stream.next()
    const { rows } = await pool.query<{ idle: boolean }>(
      `select used_at < now() - interval '6 hours' as idle from user_session where user_id = $1`,
      [firm.people.cleo.id],
    )
    expect(rows).toEqual([{ idle: true }])

    await usedBefore('8 hours')

    expect(await stream.rest()).toEqual([])
  })

  test('when the key ends, or the user, or their roles are others', async () => {
    const users = usersAddress(organisation_id)
    const acts = [
      async ({ id }: Member) => firm.service.send('DELETE', `${users}/${id}`),
      async ({ id }: Member) => firm.service.send('PATCH', `${users}/${id}`, { body: { roles: ['finance'] } }),
      async ({ id }: Member) => {
        const { body } = await firm.service.send<{ keys: readonly { id: string }[] }>('GET', `${users}/${id}`)
        return firm.service.send('DELETE', `${users}/${id}/keys/${body.data.keys[0]?.id ?? ''}`)
      },
    ]
    for (const [number, act] of acts.entries()) {
      const member = await memberOf(firm.service, organisation_id, ['underwriting'], { name: `Member ${number}` })
      const stream = await follow(member, {}, second)
      await stream.next()

      expect((await act(member)).status).toBe(200)

      expect(await stream.rest()).toEqual([])
    }
  })

  test('when the process stops, which need not wait for it, and is opened elsewhere', async () => {
    const third = await wholeService({}, firm.service.database)
    const stream = await follow(firm.people.uma, {}, third)
    const seen = await stream.next()

    const stopped = third[Symbol.asyncDispose]()
    expect(await stream.rest()).toEqual([])
    await stopped

    using elsewhere = await follow(firm.people.uma, { 'last-event-id': seen?.id ?? '' })
    expect(elsewhere.status).toBe(200)
  })
})
