import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { applicationEvents } from '#domain/applications/events.ts'
import { fromStored } from '#domain/event.ts'
import { storedEvents } from '#domain/stored-events.ts'
import { leadEvents } from '#domain/leads/events.ts'
import type { RecordErasure } from '#domain/retention/record.ts'
import { cursorOf } from '#infra/http/cursor.ts'
import { personalDataOf } from '#infra/crypto/personal-data.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { makeLeases } from '#infra/consumers/lease.ts'
import { makeCommandSide } from '../../command-api/command-side.ts'
import { leadsNotErased } from '../../command-api/leads/live-leads.ts'
import { eraseDue } from '../../command-api/retention/erase-due.ts'
import { allProjections } from '../../projections/all-projections.ts'
import { compareWithRebuild } from '../../projections/compare.ts'
import { firm } from '../audit/firm.ts'
import { readableIn } from '../erasures/readable.ts'
import { commandsOf, runCommands } from '../guides/guide.ts'
import { wholeService } from '../whole-service.ts'

const patience = { timeout: 60_000, interval: 50 }
const day = 86_400

type Due = {
  readonly kind: string
  readonly record: { readonly type: string; readonly id: string }
  readonly kept_because: readonly { readonly why: string; readonly advice: string }[]
}

let service: Awaited<ReturnType<typeof wholeService>>
/** Others that look for what is due, at the same time. */
let eager: readonly Awaited<ReturnType<typeof eagerWorker>>[]
let own: string
let others: string
const tokens = new Map<string, string>()

beforeAll(async () => {
  service = await wholeService()
  for (const slug of ['keeper', 'other']) await service.setUp(firm(slug))
  const { body } = await service.send<{ id: string; slug: string }[]>('GET', '/admin/v1/organisations')
  const idOf = (slug: string) => body.data.find((each) => each.slug === slug)?.id ?? ''
  own = idOf('keeper')
  others = idOf('other')
  for (const id of [own, others]) tokens.set(id, (await service.client(id, ['read', 'write', 'crm'])).token)
  eager = await Promise.all([eagerWorker(), eagerWorker()])
}, 120_000)
afterAll(async () => {
  for (const { stop } of eager) await stop()
  await service[Symbol.asyncDispose]()
})

/** One that waits for no lease, as if two processes held it for a moment. */
const eagerWorker = async () => {
  const ending = new AbortController()
  const side = await makeCommandSide(service.parts)
  const leases = { take: async () => ({ signal: ending.signal, isHeld: () => true, release: async () => undefined }) }
  let turns = 0
  const pool: Database = {
    query: async (statement) => {
      if (statement.text.includes('from retention_rules')) turns++
      return side.pool.query(statement)
    },
  }
  const { finished } = eraseDue({
    ...side,
    pool,
    leads: leadsNotErased(side),
    leases,
    signal: ending.signal,
    pollMs: 100,
  })
  return {
    /** Until it has looked through all that is due now. */
    turn: async () => {
      const begun = turns
      await vi.waitUntil(() => turns > begun + 1, patience)
    },
    stop: async () => {
      ending.abort()
      await finished
    },
  }
}

const admin = (organisation = own) => `/admin/v1/organisations/${organisation}`
const forward = (days: number) => service.send('POST', '/admin/v1/clock', { body: { forward_seconds: days * day } })

const call = async <Data>(method: string, path: string, body?: object, organisation = own) => {
  const answer = await service.send<Data>(method, `/api/v1${path}`, { token: tokens.get(organisation) ?? '', body })
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`)
  return answer.body.data
}

type Application = {
  readonly id: string
  readonly created_at: string
  readonly status: string
  readonly customer: { readonly id: string } | null
}

/** An application that somebody has begun, with a word of its own in it. */
const begun = async (first_name: string, word: string, organisation = own) => {
  const asked = { product_slug: 'simple-life', journey_slug: 'standard' }
  const { id, created_at: begun_at } = await call<Application>('POST', '/applications', asked, organisation)
  await call('PATCH', `/applications/${id}/soft_customer`, { customer: { city: word } }, organisation)
  const email = `${first_name.toLowerCase()}@example.com`
  const customer = { first_name, last_name: 'Okafor', email, dob: '1990-05-01', phone_number: '+442071838750' }
  const saved = await call<Application>('PATCH', `/applications/${id}/customer`, { customer }, organisation)
  return { id, contact_id: saved.customer?.id ?? '', begun_at }
}

const keep = (periods: string, slug = 'keeper') =>
  service.setUp(`organisations:\n  - slug: ${slug}\n    name: A firm\n    retention: [${periods}]\n`)

const due = async (query = '', organisation = own) =>
  (await service.send<readonly Due[]>('GET', `${admin(organisation)}/retention/due${query}`)).body.data

const receipts = async (query = '', organisation = own) =>
  (await service.send<readonly RecordErasure[]>('GET', `${admin(organisation)}/record_erasures${query}`)).body.data

const erased = async (id: string) =>
  vi.waitFor(async () => {
    const receipt = (await receipts('?state=erased')).find(({ record }) => record.id === id)
    expect(receipt).toBeDefined()
    return receipt
  }, patience)

const nothingReadable = (words: RegExp) =>
  vi.waitFor(async () => expect(await readableIn(service.parts.pool, words)).toEqual([]), patience)

const firstNames = async (application: string) =>
  (await service.parts.eventLog.read(`application-${application}`)).flatMap((recorded) => {
    const event = fromStored(applicationEvents, recorded)
    return event.type === 'CustomerSaved' ? [event.customer.first_name] : []
  })

test('an application goes when its time is over, by its own key: its person, their other application and another firm’s stay', async () => {
  const [old, bens, theirs] = [
    await begun('Ada', 'marigold'),
    await begun('Ben', 'foxglove'),
    await begun('Cleo', 'clover', others),
  ]
  await forward(40)
  const abandoned = async (id: string) => (await call<Application>('GET', `/applications/${id}`)).status === 'abandoned'
  for (const { id } of [old, bens]) await vi.waitUntil(() => abandoned(id), patience)
  const current = await begun('Ada', 'lavender')
  await forward(25)

  // Nothing goes until a period is set; the dry run says what would go.
  expect((await due()).length).toBe(0)
  const planned = await due('?kind=applications&period=30%20days')
  const keptBecause = new Map(planned.map(({ record, kept_because }) => [record.id, kept_because]))
  expect(keptBecause).toEqual(new Map([old.id, bens.id].map((id) => [id, []])))
  const [command = ''] = await commandsOf('docs/retention.md', 'See what would go')
  const shown = await runCommands(command, {
    cwd: join(import.meta.dirname, '..', '..'),
    environment: {
      BASE_URL: service.origin,
      OPERATOR_KEY: 'the operator key of the tests',
      ORGANISATION: own,
    },
  })
  expect(JSON.stringify(shown)).toContain('next_cursor')
  expect(await receipts()).toEqual([])
  const holds = `${admin()}/people/${old.contact_id}/legal_holds`
  const hold = await service.send<{ id: string }>('POST', holds, { body: { reason: 'Ada is in court.' } })
  expect(hold.status).toBe(201)

  await keep('{ applications: 30 days }')
  // Whoever mistyped it has a day to take it back.
  const set = await service.send<{ periods: unknown; binds_at: { applications?: string }; due: unknown }>(
    'GET',
    `${admin()}/retention`,
  )
  const binds_at = set.body.data.binds_at.applications ?? ''
  expect(set.body.data).toMatchObject({
    periods: { applications: '30 days' },
    due: { applications: 2 },
    due_at_least: [],
  })
  expect(Date.parse(binds_at) - Date.parse(old.begun_at)).toBeGreaterThan(66 * day * 1000)
  const [first] = (await due()).filter(({ record }) => record.id === bens.id)
  expect(first?.kept_because).toMatchObject([{ why: 'period_not_binding', record: { type: 'retention', id: own } }])
  expect(first?.kept_because[0]?.advice).toContain(binds_at)
  // Asked about as if it were set long ago, it would go.
  expect((await due('?kind=applications&period=30%20days')).find(({ record }) => record.id === bens.id)).toMatchObject({
    kept_because: [],
  })
  await eager[0]?.turn()
  expect(await receipts()).toEqual([])
  await forward(1)
  await erased(bens.id)
  expect((await service.send<{ binds_at: unknown }>('GET', `${admin()}/retention`)).body.data.binds_at).toEqual({})

  expect(await firstNames(bens.id)).toEqual([null])
  // A hold keeps the record, and the list says why.
  expect((await due()).map(({ record, kept_because }) => [record.id, kept_because[0]?.why])).toEqual([
    [old.id, 'legal_hold'],
  ])
  expect(await firstNames(old.id)).toEqual(['Ada'])
  await service.send('POST', `${holds}/${hold.body.data.id}/ending`, { body: { reason: 'It is over.' } })
  const receipt = await erased(old.id)

  expect(receipt).toMatchObject({
    kind: 'applications',
    period: '30 days',
    contact_id: old.contact_id,
    kept_with_person: false,
    streams: 1,
  })
  expect(await firstNames(old.id)).toEqual([null])
  const withdraw = (id: string) =>
    service.send('POST', `/admin/v1/team_applications/${id}/decisions`, {
      body: { decision: 'withdraw' },
    })
  expect((await withdraw(old.id)).status).toBe(404)
  const start = await service.send('PATCH', `/api/v1/applications/${old.id}/soft_customer`, {
    token: tokens.get(own) ?? '',
    body: { customer: { city: 'Leeds' } },
  })
  expect([start.status, start.body.error?.code]).toEqual([404, 'not_found'])
  await nothingReadable(/foxglove/i)
  // Their own details are the person's.
  await vi.waitFor(async () => {
    expect(await readableIn(service.parts.pool, /marigold/i)).toEqual(['public.customers: marigold'])
  }, patience)
  expect(await firstNames(current.id)).toEqual(['Ada'])
  expect(await call('GET', `/applications/${current.id}`)).toMatchObject({ customer: { first_name: 'Ada' } })
  expect(await readableIn(service.parts.pool, /lavender/i)).not.toEqual([])
  expect(await readableIn(service.parts.pool, /clover/i)).not.toEqual([])
  expect((await receipts('', others)).length + (await due('', others)).length).toBe(0)
  expect(theirs.contact_id).not.toBe('')

  // Three were at it, and it was erased once.
  const { rows } = await service.parts.pool.query<{ types: string[] }>(
    `select array_agg(type order by revision) as types from event_log.event where stream like 'record_erasure-%' group by stream`,
  )
  for (const { types } of rows) expect(types).toEqual(['RecordErasureRequested', 'RecordErased'])

  // Of Ben nothing is left: he goes, too. Ada has another application.
  await vi.waitFor(async () => {
    const erasure = await service.send<{ finished: boolean }>('GET', `${admin()}/erasures/${bens.contact_id}`)
    expect(erasure.body.data).toMatchObject({ finished: true })
  }, patience)
  await nothingReadable(/\bben\b|ben@/i)
  expect((await service.send('GET', `${admin()}/erasures/${old.contact_id}`)).status).toBe(404)
  const { pool, eventLog, signal } = service.parts
  for (const projection of allProjections.filter(({ categories }) => categories.includes('application'))) {
    const compared = await compareWithRebuild(projection, { pool, eventLog, leases: makeLeases(pool), signal })
    expect([projection.name, compared.differences]).toEqual([projection.name, []])
  }
}, 240_000)

test('a lead goes while its person stays for another record, and begins again when they come back', async () => {
  const ingest = async (word: string) => {
    const identity = { email: 'dora@example.com', first_name: 'Dora' }
    const body = { source: 'website', source_reference: randomUUID(), identity, declared: { pet: word } }
    const { id } = await call<{ id: string }>('POST', '/crm/ingests', body)
    return vi.waitUntil(async () => {
      const shown = await call<{ id: string; status: string; contact_id: string }>('GET', `/crm/ingests/${id}`)
      return shown.status === 'applied' && shown
    }, patience)
  }
  const { contact_id, id } = await ingest('a tortoise')
  const acts = [{ act: 'change_status', status: 'lost', reason: 'A tortoise is no reason' }]
  await service.send('POST', `${admin()}/leads/${contact_id}/acts`, { body: { acts } })
  expect((await begun('Dora', 'primrose')).contact_id).toBe(contact_id)
  await forward(29)
  const facts = async () =>
    (await service.parts.eventLog.read(`lead-${contact_id}`)).flatMap((recorded) => {
      const event = fromStored(leadEvents, recorded)
      return event.type === 'LeadFactsRecorded' ? [event.facts['pet']] : []
    })
  expect(await facts()).toEqual(['a tortoise'])

  await keep('{ applications: null, leads: 28 days }')
  await forward(1)
  await erased(contact_id)
  await erased(id)

  await nothingReadable(/tortoise/i)
  expect(await facts()).toEqual([undefined])
  const act = () =>
    service.send('POST', `${admin()}/leads/${contact_id}/acts`, { body: { acts: [{ act: 'mark', follow_up: true }] } })
  expect((await act()).status).toBe(404)
  expect(await readableIn(service.parts.pool, /primrose/i)).not.toEqual([])
  await keep('{ leads: null }')
  expect((await service.send('GET', `${admin()}/erasures/${contact_id}`)).status).toBe(404)
  const again = await ingest('a parrot')
  expect(again.contact_id).toBe(contact_id)
  await vi.waitFor(async () => expect(await facts()).toEqual([undefined, 'a parrot']), patience)
  expect(await readableIn(service.parts.pool, /parrot/i)).not.toEqual([])
  expect((await act()).status).toBe(200)
}, 240_000)

test('what ends in the middle goes on to its end, and what a version before this one has sealed goes with the person', async () => {
  const { id, contact_id } = await begun('Eve', 'geranium')
  await forward(40)
  await vi.waitUntil(
    async () => (await call<Application>('GET', `/applications/${id}`)).status === 'abandoned',
    patience,
  )
  // As it was sealed when a person had one key.
  const { storedLog, eventLog, dataKeys } = service.parts
  const stored = await storedLog.read(`application-${id}`)
  const saved = (await eventLog.read(`application-${id}`)).find(({ type }) => type === 'CustomerSaved')
  if (!saved) throw new Error('Nobody was saved.')
  const { type, schema_version, data, metadata } = saved
  const former = { id: randomUUID(), type, schema_version, data, metadata }
  const key = await dataKeys.of({ organisation_id: own, subject: `person:${contact_id}` })
  const sealed = personalDataOf(storedEvents).seal(`application-${id}`, former, key)
  await storedLog.append(`application-${id}`, stored.at(-1)?.revision ?? 0, [sealed])
  await forward(30)
  const { destroyDecided } = dataKeys
  const destroying = vi.spyOn(dataKeys, 'destroyDecided')
  const endsOnce = async (...asked: Parameters<typeof destroyDecided>) => {
    const { rows } = await service.parts.pool.query(
      `select from data_key where erasing ->> 'record' = 'application-${id}' and erased_at is null`,
    )
    if (rows.length === 0) return destroyDecided(...asked)
    destroying.mockImplementation(destroyDecided)
    await keep('{ applications: null }')
    throw new Error('The process ends here.')
  }
  destroying.mockImplementation(endsOnce)

  await keep('{ applications: 30 days }')
  await forward(1)
  const receipt = await erased(id)

  expect(destroying.getMockImplementation()).toBe(destroyDecided)
  vi.restoreAllMocks()
  expect(receipt).toMatchObject({ state: 'erased', kept_with_person: true })
  expect(await firstNames(id)).toEqual([null, 'Eve'])
  expect((await receipts('?kept_with_person=true')).map(({ record }) => record.id)).toEqual([id])
  expect((await service.send('POST', `${admin()}/people/${contact_id}/erasure`, { body: {} })).status).toBe(202)
  await vi.waitFor(async () => expect(await firstNames(id)).toEqual([null, null]), patience)
  await nothingReadable(/geranium/i)
}, 240_000)

test('the plan of a set-up file says that what is kept stays for a day more', async () => {
  const plan = await service.send<{ changes: readonly { what: string; details: readonly string[] }[] }>(
    'POST',
    '/admin/v1/setup',
    { body: 'organisations:\n  - slug: other\n    name: A firm\n    retention: [{ claims: 1 days, leads: null }]\n' },
  )
  expect(JSON.stringify(plan.body)).toContain('claims: kept → 1 days; what is kept until now stays for 24 hours more')
})

test('422: a period that is none; an unknown kind; a period without a kind', async () => {
  const plan = async (periods: string) =>
    service.send('POST', '/admin/v1/setup', {
      body: `organisations:\n  - slug: keeper\n    name: A firm\n    retention: [${periods}]\n`,
    })
  for (const periods of ['{ leads: 24 }', '{ leads: 0 days }', '{ leads: 2 years }', '{ ledger: 24 months }'])
    expect([periods, (await plan(periods)).status]).toEqual([periods, 422])
  const refused = await service.send('GET', `${admin()}/retention/due?period=30%20days`)
  expect([refused.status, refused.body.error?.fields]).toEqual([422, { kind: 'is needed with period' }])
})

test('a kind without a period is asked about with one, and a cursor that is none is refused', async () => {
  const due = (query: string) => service.send('GET', `/admin/v1/organisations/${others}/retention/due?${query}`)

  const without = await due('kind=claims')
  expect(without.body.error).toMatchObject({ code: 'invalid_parameter', fields: { period: 'is needed: none is set' } })
  const cursor = cursorOf(['claim', 'nonsense', randomUUID()])
  expect((await due(`kind=claims&period=1%20days&cursor=${cursor}`)).body.error?.code).toBe('invalid_parameter')
  expect((await due('kind=claims&period=1%20days')).status).toBe(200)
})
