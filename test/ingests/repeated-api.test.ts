import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { campaign, type CampaignCommand } from '#domain/campaigns/campaign.ts'
import type { CampaignState } from '#domain/campaigns/events.ts'
import { Ingest } from '#domain/ingests/record.ts'
import { z } from 'zod'
import { campaignIdOf } from '../../command-api/campaigns/ids.ts'
import { commandHandler } from '../../command-api/writing/handle.ts'
import { makeRecentContent } from '../../command-api/ingests/recent-content.ts'
import { receiveRoute } from '../../command-api/ingests/receive-route.ts'
import { makeWriter } from '../../command-api/writing/writer.ts'
import { ApiApplicationId, IngestId, OrganisationId } from '#domain/values.ts'
import { prepareLog } from '#infra/event-log/postgres/schema.ts'
import { postgresLog } from '#infra/event-log/postgres/postgres-log.ts'
import { newId } from '#infra/ids.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { makeDataKeys } from '#infra/crypto/data-keys.ts'
import { makeLog } from '#infra/log.ts'
import { testDatabase } from '../database.ts'
import { wholeLog } from '../event-log/whole-log.ts'
import { serve, serverCaller } from '../serve.ts'

const Sent = z.object({ data: Ingest.extend({ duplicate: z.boolean() }) })
const organisation_id = OrganisationId.parse('6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f')
const api = (index: number) => ApiApplicationId.parse(`d0000000-0000-4000-8000-00000000000${index}`)

/** Sending leads, at a time of our choice. */
const sender = async () => {
  const database = await testDatabase()
  await prepareLog(database.pool)
  const eventLog = wholeLog(postgresLog({ url: database.url }), database.pool)
  const keys = deriveKeys(Buffer.alloc(32, 3).toString('base64'))
  let ahead = 0
  // Another process has the campaigns, and this one never hears of them.
  const campaigns = commandHandler(makeWriter({ log: eventLog, seen: async () => undefined }), campaign)
  const campaign_id = campaignIdOf(organisation_id, 'spring')
  const change = (command: CampaignCommand) =>
    campaigns.handle(campaign_id, command, {
      organisation_id,
      actor: { type: 'operator', id: null },
      correlation_id: 'test',
      now: new Date().toISOString(),
    })
  const choices = { name: 'Spring', state: 'active' as const, rules: [], field_names: {} }
  await change({ type: 'CreateCampaign', campaign_id, organisation_id, key: 'spring', choices })
  const routes = [
    receiveRoute({
      writer: makeWriter({ log: eventLog, seen: async () => undefined }),
      dataKeys: makeDataKeys({ pool: database.pool, keys }),
      ...makeRecentContent({ pool: database.pool, log: makeLog('silent', 'test') }),
      baseUrl: 'http://service.test',
      realTime: () => Date.now() + ahead * 1000,
    }),
  ]
  const served = await serve(routes, (request) =>
    serverCaller({ organisation_id, api_application_id: api(request.get('x-caller') === 'another' ? 2 : 1) }),
  )
  return {
    send: async (content: object, headers: Record<string, string> = {}) => {
      const answered = await served.post('/api/v1/crm/ingests', { source: 'website', ...content }, headers)
      const { data } = Sent.parse(answered.body)
      return { ...data, replayed: answered.headers.get('idempotent-replay') === 'true' }
    },
    /** The campaign `spring` is active, paused or archived from now on. */
    makeCampaign: (state: CampaignState) => change({ type: 'ChangeCampaign', choices: { state } }),
    pool: database.pool,
    /** So many seconds of real time pass. */
    pass: async (seconds: number) => {
      ahead += seconds
      await database.pool.query(`update ingest_content set received_at = received_at - make_interval(secs => $1)`, [
        seconds,
      ])
    },
    statusOf: async (content: object, headers: Record<string, string>) =>
      (await served.post('/api/v1/crm/ingests', { source: 'website', ...content }, headers)).status,
    /** Of how many leads a key of personal data is kept. */
    countKeys: async () =>
      (await database.pool.query(`select from data_key where subject like 'ingest-%' and sealed is not null`)).rowCount,
    eventsOf: async (id: string) => (await eventLog.read(`ingest-${id}`)).map(({ type }) => type),
    [Symbol.asyncDispose]: async () => {
      await served[Symbol.asyncDispose]()
      await eventLog.close()
      await database[Symbol.asyncDispose]()
    },
  }
}

let leads: Awaited<ReturnType<typeof sender>>
beforeAll(async () => {
  leads = await sender()
})
afterAll(() => leads[Symbol.asyncDispose]())

let number = 0
const fresh = () => ({ text: `Lead ${++number}` })
const keyed = (key: string) => ({ 'Idempotency-Key': key })

test('the same key within 10 minutes returns the first answer with Idempotent-Replay', async () => {
  const content = fresh()
  const first = await leads.send(content, keyed('a'))
  await leads.pass(9 * 60 + 50)
  const again = await leads.send(content, keyed('a'))

  expect(first).toMatchObject({ duplicate: false, replayed: false })
  expect(again).toEqual({ ...first, duplicate: true, replayed: true })
})

test('after that the same key still never makes a second lead', async () => {
  const content = fresh()
  const first = await leads.send(content, keyed('b'))
  await leads.pass(10 * 60 + 1)
  const again = await leads.send(content, keyed('b'))

  expect(again).toEqual({ ...first, duplicate: true, replayed: false })
})

test('the same key with another lead’s content returns the first answer', async () => {
  const first = await leads.send(fresh(), keyed('c'))
  const again = await leads.send(fresh(), keyed('c'))

  expect(again).toMatchObject({ id: first.id, duplicate: true, replayed: true })
})

test('the same content from the same source within 5 minutes is treated as a retry', async () => {
  const content = fresh()
  const first = await leads.send(content)
  await leads.pass(290)
  const soon = await leads.send(content)
  await leads.pass(20)
  const later = await leads.send(content)

  expect(soon).toMatchObject({ id: first.id, duplicate: true, replayed: true })
  expect(later).toMatchObject({ duplicate: false, replayed: false })
  expect(later.id).not.toBe(first.id)
})

test('a repeat keeps no key for itself, and takes none away from the lead', async () => {
  const content = { ...fresh(), identity: { email: 'kept@example.com' } }
  await leads.send(content)
  const before = await leads.countKeys()
  const repeats = await Promise.all(Array.from({ length: 5 }, () => leads.send(content)))

  expect(repeats.map(({ duplicate }) => duplicate)).toEqual(Array.from({ length: 5 }, () => true))
  expect(await leads.countKeys()).toBe(before)
})

test('the same content from another source is another lead', async () => {
  const content = fresh()
  const first = await leads.send(content)
  const other = await leads.send({ ...content, source: 'partner' })

  expect(other.id).not.toBe(first.id)
})

test.each<[string, object]>([
  ['on a campaign', { campaign: 'spring' }],
  ['with other consent', { consent: { method: 'form', service: { email: true } } }],
  ['with another reference', { source_reference: 'another' }],
  ['with a value declared', { declared: { budget: 5 } }],
])('the same content %s is another lead', async (_how, changes) => {
  const content = fresh()
  const first = await leads.send(content)
  const other = await leads.send({ ...content, ...changes })

  expect(other.id).not.toBe(first.id)
  expect(await leads.send({ ...content, ...changes })).toMatchObject({ id: other.id, duplicate: true })
})

test('a retry while the campaign is paused is known for 5 minutes by its content, and for ever by the key that it came with', async () => {
  const content = { ...fresh(), campaign: 'spring' }
  const first = await leads.send(content)
  await leads.makeCampaign('paused')
  try {
    await leads.pass(290)
    expect(await leads.send(content, keyed('paused'))).toMatchObject({ id: first.id, duplicate: true })
    await leads.pass(20)
    expect(await leads.statusOf(content, {})).toBe(409)
    expect(await leads.send(content, keyed('paused'))).toMatchObject({ id: first.id, duplicate: true })
  } finally {
    await leads.makeCampaign('active')
  }
})

test('what another process has paused or made active a moment ago takes no lead, or takes it', async () => {
  const send = () => leads.statusOf({ ...fresh(), campaign: 'spring' }, {})
  expect(await send()).toBe(202)
  await leads.makeCampaign('paused')
  expect(await send()).toBe(409)
  await leads.makeCampaign('active')
  expect(await send()).toBe(202)
})

test('contents are forgotten after 10 minutes, and none sooner', async () => {
  const claim = async (digest: string) => {
    const { claimContent } = makeRecentContent({ pool: leads.pool, log: makeLog('silent', 'test') })
    await claimContent({ api_application_id: api(1), digest, ingest_id: IngestId.parse(newId()) })
  }
  await claim('old')
  await leads.pass(20)
  await claim('recent')
  await leads.pass(590)
  await claim('another')

  await vi.waitFor(
    async () => {
      const { rows } = await leads.pool.query<{ digest: string }>(
        `select digest from ingest_content where digest in ('old', 'recent') order by digest`,
      )
      expect(rows).toEqual([{ digest: 'recent' }])
    },
    { timeout: 60_000, interval: 20 },
  )
})

test('a key that came with the content of another lead stands for that lead from then on', async () => {
  const content = fresh()
  const first = await leads.send(content, keyed('d'))
  const other = await leads.send(content, keyed('e'))
  await leads.pass(600)
  const later = await leads.send(content, keyed('e'))

  expect(other).toMatchObject({ id: first.id, duplicate: true })
  expect(later).toMatchObject({ id: first.id, duplicate: true })
})

test('keys and content belong to the API application', async () => {
  const content = fresh()
  const first = await leads.send(content, keyed('f'))
  const other = await leads.send(content, { ...keyed('f'), 'x-caller': 'another' })

  expect(other).toMatchObject({ duplicate: false })
  expect(other.id).not.toBe(first.id)
})

test('sent many times at once, with a key or without, it is received once', async () => {
  const content = fresh()
  const answers = await Promise.all(
    Array.from({ length: 20 }, async (_, index) => leads.send(content, index % 2 === 0 ? keyed(`g${index % 4}`) : {})),
  )

  expect(new Set(answers.map(({ id }) => id)).size).toBe(1)
  expect(answers.filter(({ duplicate }) => !duplicate)).toHaveLength(1)
  expect(await leads.eventsOf(answers[0]?.id ?? '')).toEqual(['IngestReceived'])
})

test('the same key at once with different content: one lead, the first answer to all, and no other content is lost', async () => {
  const contents = Array.from({ length: 20 }, fresh)
  const answers = await Promise.all(contents.map((content) => leads.send(content, keyed('h'))))

  const [one] = answers
  expect(new Set(answers.map(({ id }) => id)).size).toBe(1)
  expect(answers.filter(({ duplicate }) => !duplicate)).toHaveLength(1)
  expect(await leads.eventsOf(one?.id ?? '')).toEqual(['IngestReceived'])
  // Sent again with a key of its own, each of the others is a lead; the one that was received is known.
  const later = await Promise.all(contents.map((content, index) => leads.send(content, keyed(`h${index}`))))
  expect(new Set(later.map(({ id }) => id)).size).toBe(20)
  expect(later.filter(({ duplicate }) => duplicate)).toEqual([expect.objectContaining({ id: one?.id })])
})

test('a key used for two contents at once keeps neither from those who send them with other keys', async () => {
  for (let round = 0; round < 5; round++) {
    const [first, second] = [fresh(), fresh()]
    const [shared, own] = [`i${round}`, `j${round}`]
    const answers = await Promise.all([
      leads.send(first, keyed(shared)),
      leads.send(second, keyed(shared)),
      leads.send(first, keyed(`${own}-first`)),
      leads.send(second, keyed(`${own}-second`)),
    ])
    expect(new Set(answers.map(({ id }) => id)).size).toBe(2)
    expect(answers.filter(({ duplicate }) => !duplicate)).toHaveLength(2)
    expect(answers[2].id).not.toBe(answers[3].id)
  }
})

test('422: a key that cannot be used', async () => {
  expect(await leads.statusOf(fresh(), keyed('x'.repeat(256)))).toBe(422)
})
