import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { campaign, type CampaignChoices } from '#domain/campaigns/campaign.ts'
import type { LeadRule } from '#domain/campaigns/events.ts'
import { leadIntake } from '#domain/campaigns/lead-intake.ts'
import { categoryOf, fromStored, type RecordedEvent } from '#domain/event.ts'
import { ingest, isIngest } from '#domain/ingests/ingest.ts'
import type { IngestContent } from '#domain/ingests/events.ts'
import type { IngestRecord } from '#domain/ingests/record.ts'
import { pipelinesOf } from '#domain/pipeline/record.ts'
import { IngestId } from '#domain/values.ts'
import { makeDataKeys } from '#infra/crypto/data-keys.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { postgresLog, prepareLog } from '#infra/event-log/postgres/postgres-log.ts'
import { makeLog } from '#infra/log.ts'
import { campaignIdOf } from '../../command-api/campaigns/ids.ts'
import { makePeople } from '../../command-api/customers/people.ts'
import { commandHandler } from '../../command-api/writing/handle.ts'
import { readDeterministically } from '../../command-api/ingests/reader.ts'
import { whenIngestReceivedResolveIt } from '../../command-api/ingests/when-ingest-received-resolve-it.ts'
import { makeLeads } from '../../command-api/leads/live-leads.ts'
import { contextOf } from '../../command-api/reactions/reaction.ts'
import { makeWriter } from '../../command-api/writing/writer.ts'
import { testDatabase } from '../database.ts'
import { wholeLog } from '../event-log/whole-log.ts'
import { organisation_id, website } from '../leads/builders.ts'
import { nothing } from './builders.ts'

let database: Awaited<ReturnType<typeof testDatabase>>
let log: EventLog
beforeAll(async () => {
  database = await testDatabase()
  await prepareLog(database.pool)
  log = wholeLog(postgresLog({ url: database.url }), database.pool)
})
afterAll(async () => {
  await log.close()
  await database[Symbol.asyncDispose]()
})

const masterKey = randomBytes(32).toString('base64')

/** A process that resolves leads, with nothing in its memory. It ends after so many appends. */
const startProcess = (appends = Infinity) => {
  const ending = new AbortController()
  let left = appends
  const own: EventLog = {
    ...log,
    append: async (...given) => {
      if (left-- <= 0) {
        ending.abort()
        throw new Error('The process is gone.')
      }
      return log.append(...given)
    },
  }
  const writer = makeWriter({ log: own, seen: async () => undefined })
  const dataKeys = makeDataKeys({ pool: database.pool, keys: deriveKeys(masterKey) })
  const pipelines = pipelinesOf(new Map())
  const reaction = whenIngestReceivedResolveIt({
    writer,
    pipelines,
    people: makePeople({ writer, digest: dataKeys.digest }),
    leads: makeLeads(writer, pipelines),
    lookalikes: { find: async () => ({ phone: [], name: [] }), remember: () => undefined },
    organisations: new Map(),
    applications: new Map(),
    reader: { readAtOnce: readDeterministically },
    log: makeLog('silent', 'test'),
    clock: { now: () => new Date() },
  })
  return {
    react: async (recorded: RecordedEvent) =>
      reaction.react(
        fromStored(reaction.events, recorded) as never,
        recorded,
        contextOf(reaction, recorded, ending.signal),
      ),
    isGone: () => ending.signal.aborted,
  }
}

const arrives = async (
  content: Partial<IngestContent>,
  campaign: IngestRecord['campaign'] = null,
): Promise<RecordedEvent> => {
  const ingest_id = IngestId.parse(crypto.randomUUID())
  const { handle } = commandHandler(makeWriter({ log, seen: async () => undefined }), ingest)
  const now = new Date().toISOString()
  await handle(
    ingest_id,
    {
      type: 'ReceiveIngest',
      ingest_id,
      organisation_id,
      api_application_id: website,
      source: 'website',
      source_reference: null,
      campaign,
      happened_at: null,
      accepted_at: now,
      content: { ...nothing, ...content },
    },
    { organisation_id, actor: { type: 'system', id: 'test' }, correlation_id: 'test', now },
  )
  const [received] = await log.read(`ingest-${ingest_id}`)
  if (!received) throw new Error('Nothing was received.')
  return received
}

const granted = { phone: true, email: false }
const everything = (email: string, name = 'Ada'): Partial<IngestContent> => ({
  identity: { email, external_id: `CRM-${email}`, first_name: name },
  data: { wish: 'A call', pets: ['cat'] },
  text: 'Please ring me on 07700 900123.',
  declared: { colour: 'red' },
  consent: { method: 'checkbox', recorded_at: null, wording: 'Yes', purposes: { service: granted } },
})
const anyEmail = () => `${crypto.randomUUID()}@example.com`

/** How many events of each type there are in each category since a place of the log, and what became of an ingest. */
const written = async (since: string | undefined, received: RecordedEvent) => {
  const counts: Record<string, number> = {}
  for (const { stream, type } of await log.readAll(since === undefined ? {} : { beyond: since as never })) {
    const name = `${categoryOf(stream)} ${type}`
    counts[name] = (counts[name] ?? 0) + 1
  }
  const { load } = commandHandler(makeWriter({ log, seen: async () => undefined }), ingest)
  const state = await load(received.stream.slice('ingest-'.length))
  if (!isIngest(state)) throw new Error('There is no ingest.')
  const { status, matched_by, is_new_lead, facts_written, fields_proposed, activities_written } = state.record
  return { counts, record: { status, matched_by, is_new_lead, facts_written, fields_proposed, activities_written } }
}

type Round = { readonly first: RecordedEvent | undefined; readonly email: string }

/** Somebody whom nobody knows, and somebody who was sent in before. */
const people = {
  'somebody new': async (): Promise<Round> => ({ first: undefined, email: anyEmail() }),
  'somebody known': async (): Promise<Round> => {
    const email = anyEmail()
    const first = await arrives(everything(email, 'Adele'))
    await startProcess().react(first)
    return { first, email }
  },
}

test.each(Object.entries(people))(
  'killed between any two writes of the step that takes in %s, a lead is taken in as if nothing had happened',
  async (_who, person) => {
    const run = async (appends: number) => {
      const { email } = await person()
      const before = await log.head()
      const received = await arrives(everything(email))
      const killed = startProcess(appends)
      await killed.react(received).catch((error: unknown) => {
        if (!killed.isGone()) throw error
      })
      const next = startProcess()
      await next.react(received)
      await next.react(received)
      return { ...(await written(before, received)), wasKilled: killed.isGone() }
    }

    const { wasKilled: _, ...undisturbed } = await run(Infinity)
    expect(undisturbed.record.status).toBe('applied')
    expect(undisturbed.counts['ingest IngestApplied']).toBe(1)
    let kills = 0
    for (let appends = 0; ; appends++) {
      const { wasKilled, ...told } = await run(appends)
      expect({ appends, ...told }).toEqual({ appends, ...undisturbed })
      if (!wasKilled) break
      kills++
    }
    // At least: the person, the lead, what was read of both, and the ingest itself.
    expect(kills).toBeGreaterThanOrEqual(4)
  },
)

test('killed between any two writes, a lead whose person is sent in again meanwhile is not lost and not doubled', async () => {
  for (let appends = 0; ; appends++) {
    const email = anyEmail()
    const before = await log.head()
    const [one, other] = [await arrives(everything(email)), await arrives(everything(email, 'Adele'))]
    const killed = startProcess(appends)
    await killed.react(one).catch(() => undefined)
    const next = startProcess()
    await Promise.all([next.react(other), next.react(one)])

    const { counts, record } = await written(before, one)
    expect({ appends, ...counts }).toMatchObject({
      appends,
      'customer CustomerSentIn': 1,
      'lead LeadCreated': 1,
      'lead LeadSentAgain': 1,
      'ingest IngestResolved': 2,
      'ingest IngestApplied': 2,
    })
    expect(record.status).toBe('applied')
    if (!killed.isGone()) break
  }
})

test('a process that lags behind lets no lead in by older rules than hold: neither those of a campaign nor of all leads', async () => {
  const context = { organisation_id, actor: { type: 'operator', id: null }, correlation_id: 'test' } as const
  const another = makeWriter({ log, seen: async () => undefined })
  const campaigns = commandHandler(another, campaign)
  const intakes = commandHandler(another, leadIntake)
  const now = () => ({ ...context, now: new Date().toISOString() })
  const id = campaignIdOf(organisation_id, 'spring')
  const choices: CampaignChoices = { name: 'Spring', state: 'active', rules: [], field_names: {} }
  const one = startProcess()
  const becomes = async (content: Partial<IngestContent>) => {
    const received = await arrives(content, { id, key: 'spring' })
    await one.react(received)
    const state = await commandHandler(another, ingest).load(received.stream.slice('ingest-'.length))
    if (!isIngest(state)) throw new Error('There is no ingest.')
    return state.record
  }
  // Without its rules nothing is let in.
  expect(await becomes({ identity: { email: anyEmail() } })).toMatchObject({ status: 'deferred', contact_id: null })

  await campaigns.handle(
    id,
    { type: 'CreateCampaign', campaign_id: id, organisation_id, key: 'spring', choices },
    now(),
  )
  expect(await becomes({ identity: { email: anyEmail() } })).toMatchObject({ status: 'applied' })

  // Another process has both, and this one has heard of neither.
  const consent: LeadRule = { rule: 'consent', purpose: 'service' }
  await campaigns.handle(
    id,
    { type: 'ChangeCampaign', choices: { rules: [consent], field_names: { email: 'Mail' } } },
    now(),
  )
  expect(await becomes({ data: { Mail: anyEmail() } })).toMatchObject({
    status: 'held',
    failures: [{ field: 'consent.service', rule: 'consent' }],
  })
  await campaigns.handle(id, { type: 'ChangeCampaign', choices: { rules: [] } }, now())
  await intakes.handle(
    organisation_id,
    { type: 'SetLeadIntake', organisation_id, choices: { rules: [{ rule: 'required', field: 'phone' }] } },
    now(),
  )
  expect(await becomes({ data: { Mail: anyEmail() } })).toMatchObject({
    status: 'held',
    failures: [{ field: 'phone', rule: 'required' }],
  })
  await intakes.handle(organisation_id, { type: 'SetLeadIntake', organisation_id, choices: { rules: [] } }, now())
  expect(await becomes({ data: { Mail: anyEmail() } })).toMatchObject({ status: 'applied' })
})
