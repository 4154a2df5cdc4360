import { afterAll, beforeAll, expect, test } from 'vitest'
import { readConfig } from '#infra/config.ts'
import { listen } from '#infra/http/listen.ts'
import { makeLog } from '#infra/log.ts'
import { makeMetrics } from '#infra/metrics.ts'
import { openParts } from '#infra/role-parts.ts'
import { startCommandApi } from '../../command-api/command-api.ts'
import { openInbound, secret, type Inbound } from './fixture.ts'
import { postBytes, sign } from './sender.ts'

/** Another command-api on the same database, with nothing in common but that. */
const secondProcess = async ({ database, parts: { config } }: Inbound) => {
  const ending = new AbortController()
  const log = makeLog('silent', 'test')
  const own = readConfig({
    BASE_URL: config.BASE_URL,
    MASTER_KEY: Buffer.alloc(32, 5).toString('base64'),
    OPERATOR_KEY: 'the operator key of the tests',
    ENVIRONMENT: 'test',
    RATE_LIMIT_REQUESTS: '0',
  })
  const { parts, close } = await openParts(own, log, ending.signal, database.url, 'many', { metrics: makeMetrics() })
  const role = await startCommandApi(parts)
  const { port, close: stopListening } = await listen(role.app, '127.0.0.1', 0)
  return {
    urlOf: (connection_id: string) =>
      `http://127.0.0.1:${port}/api/v1/webhooks/integrations/custom_http/${connection_id}`,
    [Symbol.asyncDispose]: async () => {
      await stopListening()
      ending.abort()
      await role.stop()
      await close()
    },
  }
}

let inbound: Inbound
let second: Awaited<ReturnType<typeof secondProcess>>
beforeAll(async () => {
  inbound = await openInbound()
  second = await secondProcess(inbound)
})
afterAll(async () => {
  await second[Symbol.asyncDispose]()
  await inbound[Symbol.asyncDispose]()
})

type Held = {
  readonly id: string
  readonly event_id: string | null
  readonly reason: string
  readonly faults: Readonly<Record<string, string>>
}
const heldOutcomes = async () => inbound.list<Held>('held_outcomes?limit=200')

const event = (changes: object = {}) => ({
  id: crypto.randomUUID(),
  event: { name: 'sale.made' },
  outcome: 'sold',
  at: '2026-01-15T09:00:00Z',
  lead: { email: 'nobody@example.org' },
  ...changes,
})

/** Posts one body so many times at once, to two processes in turn. */
const postAtOnce = async (bodies: readonly string[]) =>
  Promise.all(
    bodies.map(async (body, index) =>
      postBytes((index % 2 === 0 ? inbound : second).urlOf(inbound.main.id), body, {
        'X-Integrations-Signature': sign(secret, body),
      }),
    ),
  )

const reasons = async (ids: ReadonlySet<string | null>) =>
  (await inbound.logs('?limit=200')).filter(({ subject_id }) => ids.has(subject_id)).map(({ reason }) => reason)

const countOf = (all: readonly string[], wanted: string) => all.filter((each) => each === wanted).length

test('one event id sent 50 times at once to two processes is recorded once, and each delivery is logged', async () => {
  const sent = event()
  // A retry of the sender's may differ in what surrounds the id.
  const bodies = Array.from({ length: 50 }, (_, attempt) => JSON.stringify({ ...sent, attempt }))

  const answers = await postAtOnce(bodies)

  expect(answers.map(({ status }) => status)).toEqual(bodies.map(() => 200))
  const found = await inbound.eventually(async () =>
    (await heldOutcomes()).find(({ event_id }) => event_id === sent.id),
  )
  expect((await heldOutcomes()).filter(({ event_id }) => event_id === sent.id)).toHaveLength(1)
  const logged = await reasons(new Set([found.id]))
  expect([countOf(logged, 'accepted'), countOf(logged, 'repeated')]).toEqual([1, 49])
})

test('ids that are long numbers are told apart by every digit', async () => {
  const sent = JSON.stringify(event({ id: 'ID' }))

  for (const id of ['9007199254740993', '9007199254740992', '9007199254740993'])
    expect(await inbound.post(sent.replace('"ID"', id))).toMatchObject({ status: 200 })

  const logged = (await inbound.logs('?limit=3')).map(({ reason }) => reason)
  expect(logged.toReversed()).toEqual(['accepted', 'accepted', 'repeated'])
})

test('a number keeps the digits that its sender wrote: 1.10 is not 1.1, and 12.50 is an amount', async () => {
  const sent = JSON.stringify(event({ id: 'ID' }))
  for (const id of ['1.10', '1.1', '1.10'])
    expect(await inbound.post(sent.replace('"ID"', id))).toMatchObject({ status: 200 })
  const logged = (await inbound.logs('?limit=3')).map(({ reason }) => reason)
  expect(logged.toReversed()).toEqual(['accepted', 'accepted', 'repeated'])

  const id = crypto.randomUUID()
  await inbound.post(JSON.stringify(event({ id, sale: { premium: 'AMOUNT' } })).replace('"AMOUNT"', '12.50'))
  const found = await inbound.eventually(async () => (await heldOutcomes()).find(({ event_id }) => event_id === id))
  // What is held is held for another reason.
  expect(found.faults).toEqual({ product: 'is required for sold' })
})

test('an amount of more digits than a number keeps is read exactly: it is held, never rounded', async () => {
  const id = crypto.randomUUID()
  const sent = JSON.stringify(event({ id, sale: { premium: 'AMOUNT' } })).replace('"AMOUNT"', '12.340000000000000001')

  expect(await inbound.post(sent)).toMatchObject({ status: 200 })

  const found = await inbound.eventually(async () => (await heldOutcomes()).find(({ event_id }) => event_id === id))
  expect(found).toMatchObject({
    reason: 'invalid',
    faults: { 'values.premium': 'must be an amount in pounds, as 12.50' },
  })
})

test('without an event id the whole body tells: the same body is recorded once, another one again', async () => {
  const sent = event({ id: undefined, sale: { ref: crypto.randomUUID() } })
  const [one, other] = [JSON.stringify(sent), JSON.stringify({ ...sent, more: 1 })]

  await postAtOnce([one, one, one, other])

  const refs = async () => (await inbound.logs('?limit=4')).map(({ subject_id }) => subject_id)
  expect(new Set(await refs()).size).toBe(2)
})

test('event ids belong to the connection that they come over', async () => {
  const sent = event()
  await inbound.post(sent)
  await inbound.post(sent, { connection: inbound.connectionNamed('to revoke').id })

  const [one, two] = await inbound.logs('?limit=2')
  expect([one?.reason, two?.reason]).toEqual(['accepted', 'accepted'])
  expect(one?.subject_id).not.toBe(two?.subject_id)
})

test('text that no table can hold is taken in: lone surrogates and the character U+0000', async () => {
  const id = crypto.randomUUID()
  const body = `{"id":"${id}","event":{"name":"sale.made"},"outcome":"sold","at":"2026-01-15T09:00:00Z",
    "lead":{"email":"\\ud800@x.org"},"sale":{"ref":"D\\u0000\\udfff"},"__proto__":{"outcome":"x"},"constructor":1}`

  expect((await inbound.post(body)).status).toBe(200)

  const found = await inbound.eventually(async () => (await heldOutcomes()).find(({ event_id }) => event_id === id))
  expect(found.reason).toBe('invalid')
})

test('news of a policy that is not there is accepted, and leads to nothing', async () => {
  const sent = { id: crypto.randomUUID(), event: { name: 'policy.changed' }, policy: { ours: crypto.randomUUID() } }

  expect((await inbound.post(sent)).status).toBe(200)

  expect((await inbound.logs('?limit=1'))[0]).toMatchObject({ reason: 'accepted', event_type: 'policy.changed' })
})

test('the log is read in pages, by connection and by what became of a delivery', async () => {
  await inbound.post('no JSON')
  const page = await inbound.send<readonly { id: string }[]>('GET', `${inbound.own}/integration_logs?limit=2`)
  const next = await inbound.send<readonly { id: string }[]>(
    'GET',
    `${inbound.own}/integration_logs?limit=2&cursor=${page.body.next_cursor}`,
  )
  const ids = [...page.body.data, ...next.body.data].map(({ id }) => id)

  expect(new Set(ids).size).toBe(4)
  const refused = await inbound.logs(`?accepted=false&integration_connection_id=${inbound.main.id}`)
  expect(refused.map(({ accepted }) => accepted)).toEqual(refused.map(() => false))
  expect(refused[0]).toMatchObject({ reason: 'not_json' })
  expect(await inbound.logs('?direction=outbound')).toEqual([])
})

test('the log keeps so many entries of a connection, and the oldest makes room', async () => {
  const { pool } = inbound.database
  await pool.query(`update integration_log_slot set used = 10000 where connection_id = '${inbound.main.id}'`)
  const before = await pool.query<{ count: number }>('select count(*)::integer from integration_log')

  await inbound.post({})

  const after = await pool.query<{ count: number }>('select count(*)::integer from integration_log')
  expect(after.rows).toEqual(before.rows)
  expect((await inbound.logs('?limit=1'))[0]).toMatchObject({ reason: 'no_event_type' })
})
