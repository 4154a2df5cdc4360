import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import type { Checks } from '#infra/http/health.ts'
import { makeLog } from '#infra/log.ts'
import { processId } from '#infra/process-id.ts'
import { reportProcess } from '#infra/process-report.ts'
import { memberOf, type Member } from '../users/team.ts'
import { wholeService } from '../whole-service.ts'

/** The processes of the service, as each writes of itself and operators are shown it. */

const patience = { timeout: 20_000, interval: 20 }

let service: Awaited<ReturnType<typeof wholeService>>
let operator: Member
beforeAll(async () => {
  service = await wholeService()
  operator = await memberOf(service, null, ['operator'])
}, 60_000)
afterAll(() => service[Symbol.asyncDispose]())

type Shown = {
  readonly id: string
  readonly role: string
  readonly state: string
  readonly reasons: readonly { readonly check: string; readonly detail: string | null }[]
}

const processes = async () =>
  (await service.send<readonly Shown[]>('GET', '/admin/v1/processes', { token: operator.key })).body.data
const shownOf = async (id: string) => (await processes()).find((each) => each.id === id)

let id: string
beforeEach(() => {
  id = randomUUID()
})

const start = (checks: Checks, pool: Parameters<typeof reportProcess>[0]['pool'] = service.database.pool) => {
  const ending = new AbortController()
  const log = makeLog('silent', 'test')
  const { finished } = reportProcess({ pool, log, signal: ending.signal, role: 'projections', checks, id, everyMs: 20 })
  return {
    stop: async () => {
      ending.abort()
      await finished
    },
  }
}

test('200 one that is ready is shown until it is stopped', async () => {
  const reporting = start(async () => [{ name: 'database', ok: true, detail: 'all is well' }])
  const shown = await vi.waitUntil(() => shownOf(id), patience)
  expect(shown).toMatchObject({ role: 'projections', state: 'ready', reasons: [] })

  await reporting.stop()

  expect(await shownOf(id)).toBeUndefined()
})

test('200 one that is not ready says why, and that it is ready again', async () => {
  let isWell = false
  const reporting = start(async () => [
    { name: 'database', ok: true },
    { name: 'event_log', ok: isWell, detail: 'away' },
  ])
  const shown = await vi.waitUntil(() => shownOf(id), patience)
  expect(shown).toMatchObject({ state: 'not_ready', reasons: [{ check: 'event_log', detail: 'away' }] })

  isWell = true

  await vi.waitUntil(async () => (await shownOf(id))?.state === 'ready', patience)
  await reporting.stop()
})

test('200 one whose checks fail or never answer is not ready', async () => {
  const reporting = start(async () => {
    throw new Error('with a value of somebody in it')
  })
  const shown = await vi.waitUntil(() => shownOf(id), patience)
  expect(shown.reasons).toMatchObject([{ check: 'checks', detail: expect.stringMatching(/^Error at /) as string }])
  await reporting.stop()
})

test('200 one that was killed is silent after half a minute, and gone after a day', async () => {
  const insert = (ago: string, at: string) =>
    service.database.pool.query(
      `insert into process (id, role, host, version, started_at, last_seen_at, failing)
       values ($1, 'query-api', 'one', '1', now(), now() - $2::interval, '[]')`,
      [at, ago],
    )
  const [old, killed] = [randomUUID(), randomUUID()]
  await insert('25 hours', old)
  await insert('40 seconds', killed)

  const reporting = start(async () => [])
  await vi.waitUntil(() => shownOf(id), patience)

  expect((await shownOf(killed))?.state).toBe('silent')
  expect(await shownOf(old)).toBeUndefined()
  await reporting.stop()
})

test('a database that is away ends nothing, and is written to once it is back', async () => {
  let isAway = true
  const pool = {
    query: async (statement: never) => {
      if (isAway) throw Object.assign(new Error('connect ECONNREFUSED'), { syscall: 'connect' })
      return service.database.pool.query(statement)
    },
  }
  let asked = 0
  const reporting = start(async () => {
    asked++
    return []
  }, pool)
  await vi.waitUntil(() => asked > 2, patience)
  expect(await shownOf(id)).toBeUndefined()
  isAway = false

  await vi.waitUntil(() => shownOf(id), patience)
  await reporting.stop()
})

test('the service reports itself, and is named as what runs its read models', async () => {
  await vi.waitUntil(async () => (await shownOf(processId))?.state === 'ready', patience)
  const { body } = await service.send<{ held: { process_id: string } | null }>(
    'GET',
    '/admin/v1/consumers/applications',
    { token: operator.key },
  )
  expect(body.data.held?.process_id).toBe(processId)
})

test('403 is for operators and auditors of the installation', async () => {
  const owner = await memberOf(service, await service.organisation('firm'), ['owner'])
  expect((await service.send('GET', '/admin/v1/processes', { token: owner.key })).status).toBe(403)
})
