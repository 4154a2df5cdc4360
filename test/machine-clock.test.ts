import { globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import Stripe from 'stripe'
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ApiApplicationId, OrganisationId } from '#domain/values.ts'
import { clockCheck, inBusinessTime, moveClock, realNow, realTime, startClock } from '#infra/clock.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { makeTokens } from '#infra/crypto/tokens.ts'
import { makeLog } from '#infra/log.ts'
import { makeMetrics } from '#infra/metrics.ts'
import { isSignedBy } from '#infra/stripe/signature.ts'
import { signatureFault } from '../command-api/inbound-webhooks/signature.ts'
import { sign } from '../delivery-worker/webhooks/sign.ts'
import { testDatabase } from './database.ts'

const minutesMs = 60_000
const offMs = 10 * minutesMs

/** From here on the clock of this machine is off, while the database's is right. */
const trueNow = Date.now
const setMachine = (aheadMs: number) => {
  vi.spyOn(Date, 'now').mockImplementation(() => trueNow() + aheadMs)
}
beforeEach(() => setMachine(offMs))
afterEach(() => void vi.restoreAllMocks())
afterAll(async () => {
  // Other tests of this process go by the same time: it is measured once more, by a clock that is right.
  using _ = await started({ query: async () => ({ rows: [{ ms: trueNow(), moved_ms: 0 }] }) as never })
  if (!isNear(realNow())) throw new Error('The measured time of this process is still off.')
})

const started = async (pool: Parameters<typeof startClock>[0]['pool'], isMovable = false) => {
  const stopping = new AbortController()
  const lines: string[] = []
  const log = makeLog('warn', 'test', { write: (line) => void lines.push(line) })
  const metrics = makeMetrics()
  const clock = await startClock({ pool, log, metrics, signal: stopping.signal, offsetMs: 0, isMovable })
  return { clock, metrics, lines, [Symbol.dispose]: () => stopping.abort() }
}

const isNear = (instant: number) => Math.abs(instant - trueNow()) < minutesMs

test('a process whose clock is off signs, checks and issues by the time of the database', async () => {
  await using database = await testDatabase()
  using _ = await started(database.pool)
  const keys = deriveKeys(Buffer.alloc(32, 3).toString('base64'))
  const body = Buffer.from('{}')

  // What others, whose clocks are right, take, and what they send.
  expect(signatureFault('a secret', body, [sign('a secret', '{}', realTime())], new Date(trueNow()))).toBeUndefined()
  expect(signatureFault('a secret', body, [sign('a secret', '{}', new Date(trueNow()))], realTime())).toBeUndefined()
  const header = Stripe.webhooks.generateTestHeaderString({
    payload: '{}',
    secret: 'whsec_1',
    timestamp: Math.floor(trueNow() / 1000),
  })
  expect(isSignedBy('whsec_1', body, header)).toBe(true)
  const grant = {
    organisation_id: OrganisationId.parse(crypto.randomUUID()),
    api_application_id: ApiApplicationId.parse(crypto.randomUUID()),
    epoch: 1,
    scopes: new Set(['read'] as const),
    resource: 'https://service.test/api/v1',
  }
  const issued = await makeTokens(keys, 'https://service.test').issue(grant)
  expect(isNear(issued.created_at * 1000)).toBe(true)
  const elsewhere = await makeTokens(keys, 'https://service.test', () => trueNow()).issue(grant)
  expect(await makeTokens(keys, 'https://service.test').verify(elsewhere.access_token)).toMatchObject({
    outcome: 'genuine',
  })
})

test('real time stays that of the database when business time is moved, and what was paid just now was paid just now', async () => {
  await using database = await testDatabase()
  await moveClock(database.pool, 365 * 24 * 60 * minutesMs)
  using process = await started(database.pool, true)

  expect(isNear(realNow())).toBe(true)
  expect(isNear(Number(process.clock.now()))).toBe(false)
  const now = process.clock.now().toISOString()
  const paid = inBusinessTime(new Date(trueNow()).toISOString(), now)
  expect(Math.abs(Date.parse(now) - Date.parse(paid))).toBeLessThan(minutesMs)
})

test('a clock that is off is one warning, a metric and a line in health, and the process stays ready', async () => {
  await using database = await testDatabase()
  using process = await started(database.pool)
  await process.clock.measureNow?.()
  await process.clock.measureNow?.()

  expect(process.lines).toHaveLength(1)
  expect(process.lines[0]).toMatch(/the clock of this machine is \d+ s ahead of the database's/)
  const { values } = await process.metrics.machineAhead.get()
  expect(Math.round((values[0]?.value ?? 0) / 60)).toBe(10)
  expect(clockCheck(process.clock)).toEqual({
    name: 'clock',
    ok: true,
    detail: expect.stringMatching(/^the clock of this machine is \d+ s ahead of the database's$/) as string,
  })
})

test('a clock that is off by less than five seconds is nothing to tell', async () => {
  setMachine(-1_000)
  await using database = await testDatabase()
  using process = await started(database.pool)

  expect(process.lines).toEqual([])
  expect(clockCheck(process.clock)).toEqual({ name: 'clock', ok: true })
})

test('a machine that was suspended goes by the time of the database as soon as it runs again', async () => {
  let sleptMs = 0
  let lost = 0
  using _ = await started({
    query: async () => {
      // The connections that were open before it was suspended are gone.
      if (sleptMs > 0 && lost++ === 0) throw new Error('Connection terminated unexpectedly')
      return { rows: [{ ms: trueNow() + sleptMs, moved_ms: 0 }] } as never
    },
  })

  sleptMs = 60 * minutesMs
  setMachine(offMs + sleptMs)

  await vi.waitFor(() => expect(isNear(realNow() - sleptMs)).toBe(true), { timeout: 60_000 })
})

/** Where the machine's own clock may be asked: what it says is compared with itself alone, or is no more than shown. */
const mayAskTheMachine = [
  'infra/clock.ts',
  // The process itself, and how long something in it has lasted.
  'infra/consumers/',
  'infra/event-log/',
  'infra/postgres/connection.ts',
  'infra/postgres/embedded/',
  'infra/process.ts',
  'infra/outage-lines.ts',
  'projections/runner.ts',
  'command-api/ingests/recent-content.ts',
  'delivery-worker/sending/tokens.ts',
  // Counted in the process: both ends are by this clock.
  'infra/http/rate-limit.ts',
  'command-api/custom-integrations/inbound-webhook.ts',
  // Only orders what was made at about the same time.
  'infra/ids.ts',
  // The installation's first event, before there is a clock.
  'infra/installation.ts',
  // Without an answer of the database.
  'delivery-worker/recovery/upkeep.ts',
]

test('nobody else asks the clock of the machine', () => {
  const root = resolve(import.meta.dirname, '..')
  const files = globSync('{command-api,query-api,delivery-worker,projections,infra}/**/*.ts', { cwd: root })
  const asking = files.filter((file) => /\bDate\.now\b|new Date\(\)/.test(readFileSync(resolve(root, file), 'utf8')))

  expect(asking.filter((file) => !mayAskTheMachine.some((allowed) => file.startsWith(allowed)))).toEqual([])
})
