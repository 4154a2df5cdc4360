import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { openFirm, organisation_id, type Firm } from '../console/firm.ts'
import { memberOf } from '../users/team.ts'
import { wholeService } from '../whole-service.ts'

/** What operators see of the work that follows the log, and do to it, in two processes that share a database. */

const patience = { timeout: 30_000, interval: 50 }
const address = '/admin/v1/consumers'

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

type Consumer = {
  readonly name: string
  readonly role: string | null
  readonly state: string
  readonly behind: number
  readonly behind_seconds: number
  readonly records_set_aside: number
  readonly is_resumable: boolean
  readonly held: { readonly process_id: string | null; readonly since: string | null } | null
  readonly is_rebuildable: boolean
  readonly rebuild: { readonly state: string; readonly done: number; readonly total: number | null } | null
  readonly last_fault: { readonly fault: string; readonly event_type: string } | null
}
type Aside = { readonly record: string; readonly fault: string | null; readonly resume_requested_at: string | null }

const token = () => firm.people.opal.key
const consumers = async () =>
  (await firm.service.send<readonly Consumer[]>('GET', address, { token: token() })).body.data
const consumer = async (name: string) =>
  (await firm.service.send<Consumer>('GET', `${address}/${encodeURIComponent(name)}`, { token: token() })).body.data
const aside = (name: string, query = '') =>
  firm.service.send<readonly Aside[]>('GET', `${address}/${encodeURIComponent(name)}/set_aside?${query}`, {
    token: token(),
  })
const resume = (name: string, body: object = {}, at = firm.service) =>
  at.send<{ records: number }>('POST', `${address}/${encodeURIComponent(name)}/resume`, { token: token(), body })

const inDatabase = (text: string, values: readonly unknown[] = []) =>
  firm.service.database.pool.query(text, [...values])

/** While it lasts, no referral can be written to the read model of applications. */
const refuseReferrals = () =>
  inDatabase(`alter table applications add constraint no_referrals check (status <> 'referred') not valid`)
const takeReferrals = () => inDatabase('alter table applications drop constraint no_referrals')

describe('the list', () => {
  test('200 has each with its role, the process that runs it, and nothing behind once all is read', async () => {
    const all = await vi.waitUntil(async () => {
      const found = await consumers()
      return found.every(({ state, behind }) => state === 'running' && behind === 0) ? found : undefined
    }, patience)

    const named = Object.fromEntries(all.map((each) => [each.name, each]))
    expect(named['applications']).toMatchObject({ role: 'projections', behind_seconds: 0, is_resumable: true })
    expect(named['payments']).toMatchObject({ role: 'projections', is_resumable: false })
    expect(named['audit']?.role).toBe('projections')
    expect(new Set(all.map(({ role }) => role))).toEqual(new Set(['projections', 'command-api']))
    expect(all.filter(({ held }) => !held?.process_id || !(Date.parse(held.since ?? '') <= Date.now()))).toEqual([])
  })

  test('200 names what no process runs, and how long events wait for it', async () => {
    await inDatabase(
      `insert into consumer_checkpoint (name, version, categories, awaited) values ('deliveries gone 3', 1, '{}', false)`,
    )

    const gone = await consumer('deliveries gone 3')

    expect(gone).toMatchObject({ state: 'not_leased', held: null, role: null })
    expect(gone.behind).toBeGreaterThan(0)
    expect(gone.behind_seconds).toBeGreaterThan(0)
    await inDatabase(`delete from consumer_checkpoint where name = 'deliveries gone 3'`)
  })

  test('403 is for operators and auditors of the installation', async () => {
    for (const who of [firm.people.olga, firm.people.aud])
      expect((await firm.service.send('GET', address, { token: who.key })).status).toBe(403)
  })
})

describe('a rebuild', () => {
  const rebuild = (name: string, body: object = {}, at = firm.service) =>
    at.send('POST', `${address}/${encodeURIComponent(name)}/rebuild`, { token: token(), body })

  test('202 makes the read model of the log again, once for one id, whichever process is asked', async () => {
    const application_id = await firm.sendReferral('Spoilt')
    await inDatabase(`update applications set status = 'declined' where id = $1`, [application_id])
    const rebuild_id = randomUUID()
    const answers = await Promise.all([
      rebuild('applications', { rebuild_id }),
      rebuild('applications', { rebuild_id }, second),
      rebuild('applications', { rebuild_id }),
    ])
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202])
    expect((await consumer('applications')).state).toBe('rebuilding')

    const done = await vi.waitUntil(async () => {
      const found = await consumer('applications')
      return found.rebuild?.state === 'done' ? found.rebuild : undefined
    }, patience)

    expect(done.done).toBe(done.total)
    const { rows } = await inDatabase(`select status from applications where id = $1`, [application_id])
    expect(rows).toEqual([{ status: 'referred' }])
    expect((await rebuild('applications', { rebuild_id })).status).toBe(202)
    expect((await consumer('applications')).rebuild).toEqual(done)
  })

  test('409 what is no read model is resumed instead', async () => {
    expect((await consumer('audit')).is_rebuildable).toBe(false)
    const { status, body } = await rebuild('audit')
    expect([status, body.error?.message]).toEqual([409, 'audit is no read model. Resume its records instead.'])
  })

  test('404 and 403 are answered as for resuming', async () => {
    expect((await rebuild('nothing of the kind')).status).toBe(404)
    const own = { token: firm.people.olga.key, body: {} }
    expect((await firm.service.send('POST', `${address}/applications/rebuild`, own)).status).toBe(403)
  })
})

describe('records that are set aside', () => {
  test('200 are resumed, once, however often that is asked for and by whichever process', async () => {
    await refuseReferrals()
    const application_id = await firm.sendReferral('Quoted Secret')
    const found = await vi.waitUntil(async () => {
      const shown = await consumer('applications')
      return shown.records_set_aside === 1 ? shown : undefined
    }, patience)
    expect(found.state).toBe('set_aside')
    expect(found.last_fault?.fault).toMatch(/^error 23514 at [\w.-]+:\d+$/)
    expect((await aside('applications')).body.data).toMatchObject([
      { record: `application-${application_id}`, fault: found.last_fault?.fault, resume_requested_at: null },
    ])

    // Nothing was put right: it stays.
    expect((await resume('applications')).body.data).toEqual({ records: 1 })
    await vi.waitUntil(async () => (await aside('applications')).body.data[0]?.resume_requested_at === null, patience)
    expect((await consumer('applications')).records_set_aside).toBe(1)

    await takeReferrals()
    const record = `application-${application_id}`
    const answers = await Promise.all([
      resume('applications', { record }),
      resume('applications', { record }, second),
      resume('applications', { record }),
    ])
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202])
    await vi.waitUntil(async () => (await consumer('applications')).state === 'running', patience)
    expect((await resume('applications')).body.data).toEqual({ records: 0 })
    const shown = await firm.service.send<{ status: string }>(
      'GET',
      `/admin/v1/team_applications/${application_id}?organisation_id=${organisation_id}`,
    )
    expect(shown.body.data.status).toBe('referred')
  })

  test('200 are read page by page, and the message of a fault is never shown', async () => {
    await inDatabase(
      `insert into consumer_set_aside (consumer, record, stream, revision, event_id, type, reason)
       select 'erased-people', 'erasure-' || n, 'erasure-' || n, 0, gen_random_uuid(), 'ErasureRequested',
         case when n = 10 then null else 'Jane Roe is unknown' end
       from generate_series(10, 34) as n`,
    )
    const seen: Aside[] = []
    for (let cursor: string | null | undefined = ''; typeof cursor === 'string';) {
      const { body } = await aside('erased-people', `limit=10${cursor === '' ? '' : `&cursor=${cursor}`}`)
      seen.push(...body.data)
      cursor = body.next_cursor
    }

    expect(seen.map(({ record }) => record)).toEqual(Array.from({ length: 25 }, (_, at) => `erasure-${at + 10}`))
    expect(new Set(seen.map(({ fault }) => fault))).toEqual(new Set([null, 'OwnError']))
    expect((await consumer('erased-people')).last_fault?.fault).toBe('OwnError')
    await inDatabase(`delete from consumer_set_aside where consumer = 'erased-people'`)
    expect((await aside('erased-people', 'cursor=nonsense')).status).toBe(422)
  })

  test('409 a read model whose rows belong to several records is rebuilt instead', async () => {
    const { status, body } = await resume('payments')

    expect([status, body.error?.message]).toEqual([
      409,
      'Rows of payments belong to several records. Rebuild all of it instead.',
    ])
  })

  test('404 there is no such consumer', async () => {
    expect((await resume('nothing of the kind')).status).toBe(404)
    expect((await aside('nothing of the kind')).status).toBe(404)
  })

  test('403 an auditor of the installation sees them, and resumes none', async () => {
    const { key } = await memberOf(firm.service, null, ['auditor'])

    expect((await firm.service.send('GET', `${address}/applications/set_aside`, { token: key })).status).toBe(200)
    const { status } = await firm.service.send('POST', `${address}/applications/resume`, { token: key, body: {} })
    expect(status).toBe(403)
  })
})
