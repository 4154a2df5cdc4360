import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { ProviderAccountId } from '#domain/provider-accounts/events.ts'
import { accountOpener, accountSecretBinding, type SealedAccount } from '#domain/provider-accounts/record.ts'
import { systemClock } from '#infra/clock.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { unseal, seal } from '#infra/crypto/seal.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { makeLog } from '#infra/log.ts'
import { marketPanel } from '#infra/market-panel/panel.ts'
import { outsideHttp } from '../outside-http.ts'
import { searchMarket } from '../../command-api/applications/search-market.ts'
import { makeWriter } from '../../command-api/writing/writer.ts'
import { startMarketPanel } from '../../stand-ins/market-panel.ts'
import { as, applicationApis, type Fixture } from '../applications/fixture.ts'
import { organisation_id } from '../applications/release.ts'

const keys = deriveKeys(randomBytes(32).toString('base64'))
const customer = { first_name: 'Anna', last_name: 'Ash', email: 'market@example.org', dob: '1992-03-10' }
const patience = { timeout: 60_000, interval: 10 }

let fixture: Fixture
let panel: Awaited<ReturnType<typeof startMarketPanel>>
let isSilent = false
const outside = outsideHttp(({ method }) => isSilent && method === 'GET')
let panelNow = 0
beforeAll(async () => {
  fixture = await applicationApis()
  panel = await startMarketPanel(undefined, { now: () => panelNow })
})
afterAll(async () => {
  await Promise.all([outside.close(), panel.close()])
  await fixture[Symbol.asyncDispose]()
})

const accounts = (base_url: string): ReadonlyMap<string, SealedAccount> => {
  const id = ProviderAccountId.parse('50000000-0000-5000-8000-000000000009')
  const sealed_secret = seal(keys, 'panel-key', accountSecretBinding(organisation_id, id))
  const account = {
    id,
    organisation_id,
    provider: 'market_panel',
    base_url,
    account: null,
    sealed_secret,
    sealed_webhook_secret: null,
  } as const
  return new Map([[`${organisation_id} market_panel`, { ...account, updated_at: '2026-01-15T12:00:00.000Z' }]])
}

/** A process that goes on with searches. */
const processAt = (base_url: string, realNow: () => number = Date.now, eventLog: EventLog = fixture.log) =>
  searchMarket({
    writer: makeWriter({ log: eventLog, seen: async () => undefined }),
    panel: marketPanel(outside),
    openAccount: accountOpener(accounts(base_url), (sealed, place) => unseal(keys, sealed, place)),
    clock: systemClock,
    log: makeLog('silent', 'test'),
    realNow,
  })

const searched = async () => {
  const { id } = (await fixture.start({ product_slug: 'market', answers: { smoker: false, height_cm: 170 }, customer }))
    .body.data
  await fixture.save(id, { cover_amount_pence: 20_000_000, term_years: 25 })
  const { status, body } = await fixture.searchMarket(id)
  expect(status).toBe(200)
  const request_id = body.data.market_quotes?.request_id ?? ''
  const due = { organisation_id, kind: 'market_search', id: request_id, stream: `application-${id}`, due_at: '' }
  const context = { organisation_id, actor: { type: 'system', id: null }, correlation_id: 'test', now: '' } as const
  const quotes = async () => {
    const { body: saved } = await fixture.save(id, { answers: {} })
    return saved.data.market_quotes
  }
  return {
    id,
    request_id,
    market_quotes: body.data.market_quotes,
    quotes,
    fire: async (process: ReturnType<typeof processAt>) => process.fire(due, context),
    /** Lets a process make steps until the quotes are so. */
    until: async (process: ReturnType<typeof processAt>, isSo: (status: string, results: number) => boolean) => {
      await vi.waitUntil(async () => {
        await process.fire(due, context)
        const shown = await quotes()
        return shown !== null && isSo(shown.status, shown.results.length)
      }, patience)
      return quotes()
    },
  }
}

describe('POST /api/v1/applications/{id}/market_quotes', () => {
  test(
    '200 at once; results are stored as they come, and another process finishes the search of one that was killed',
    { timeout: 120_000 },
    async () => {
      panelNow = 0
      const { id, market_quotes, until } = await searched()
      expect(market_quotes).toMatchObject({ status: 'pending', stale: false, results: [] })

      const partial = await until(processAt(panel.url), (status) => status === 'fetching')
      expect(partial).toMatchObject({ provider_count: 8 })

      panelNow = 2_000
      const another = processAt(panel.url)
      await until(another, (_status, results) => results === 7)
      panelNow = 4_000
      const quotes = await until(another, (status) => status === 'completed')
      const statuses = Object.fromEntries(
        quotes?.results.map(({ provider_name, status }) => [provider_name, status]) ?? [],
      )
      expect(statuses).toMatchObject({ 'Albion Mutual': 'success', 'Hollow Tree': 'timeout' })
      expect(quotes?.results).toHaveLength(8)

      const repeated = await fixture.searchMarket(id)
      expect(repeated.body.data.market_quotes?.request_id).toBe(market_quotes?.request_id)

      const silent = quotes?.results.find(({ status }) => status === 'timeout')
      const unpriced = await fixture.selectResult(id, { result_id: silent?.result_id })
      expect([unpriced.status, unpriced.body.error.code, Object.keys(unpriced.body.error.fields ?? {})]).toEqual([
        422,
        'validation_failed',
        ['result_id'],
      ])

      const cheapest = quotes?.results.find(({ provider_name }) => provider_name === 'Albion Mutual')
      await fixture.save(id, { term_years: 21 })
      const stale = await fixture.selectResult(id, { result_id: cheapest?.result_id })
      expect([stale.status, stale.body.error.code]).toEqual([409, 'market_quotes_stale'])
      await fixture.save(id, { term_years: 25 })

      const { status, body } = await fixture.selectResult(id, { result_id: cheapest?.result_id })
      expect(status).toBe(200)
      expect(body.data).toMatchObject({ status: 'handed_off' })
      expect(body.data.market_quotes?.selected_result_id).toBe(cheapest?.result_id)
    },
  )

  test.each([
    ['before', 'pending'],
    ['after', 'fetching'],
  ] as const)(
    'a process that is killed %s it has stored that the panel has begun leaves a search that is %s, which another finishes',
    { timeout: 60_000 },
    async (when, left) => {
      panelNow = 0
      const { request_id, until, fire, quotes } = await searched()
      let isDead = false
      const dying = processAt(panel.url, Date.now, {
        ...fixture.log,
        append: async (...given) => {
          if (when === 'after') await fixture.log.append(...given)
          isDead = true
          throw new Error('This process was killed.')
        },
      })
      await fire(dying)
      await vi.waitUntil(() => isDead, patience)
      expect(await quotes()).toMatchObject({ status: left })

      panelNow = 4_000
      const finished = await until(processAt(panel.url), (status) => status === 'completed')

      expect(finished).toMatchObject({ provider_count: 8, request_id })
      expect(finished?.results).toHaveLength(8)
      // The panel knows by the key that it has begun this search.
      const begun = panel.requests.filter(({ header }) => header('idempotency-key') === request_id)
      expect(begun).toHaveLength(when === 'before' ? 2 : 1)
    },
  )

  test('a panel that cannot be reached fails the search when its time is over', async () => {
    const { until } = await searched()
    const inAnHour = () => Date.now() + 3_600_000
    const quotes = await until(processAt('http://127.0.0.1:9', inAnHour), (status) => status === 'failed')
    expect(quotes).toMatchObject({ failure_code: 'panel_unreachable' })
  })

  test('a panel that stops answering fails the search when its time is over', async () => {
    panelNow = 0
    const { until } = await searched()
    isSilent = true
    panel.misbehave(({ method }) => (method === 'GET' ? 'hang' : undefined))
    await until(processAt(panel.url), (status) => status === 'fetching')
    const inAnHour = () => Date.now() + 3_600_000
    const quotes = await until(processAt(panel.url, inAnHour), (status) => status === 'failed')
    panel.misbehave(undefined)
    isSilent = false
    expect(quotes).toMatchObject({ failure_code: 'provider_timeout' })
  })

  test('searches that take long leave room for those that came after them', { timeout: 60_000 }, async () => {
    panelNow = 0
    const searches = await Promise.all(Array.from({ length: 12 }, searched))
    const process = processAt(panel.url)

    await vi.waitFor(async () => {
      for (const { fire } of searches) await fire(process)
      const shown = await Promise.all(searches.map(async ({ quotes }) => quotes()))
      expect(new Set(shown.map((quotes) => quotes?.status))).toEqual(new Set(['fetching']))
    }, patience)
  })

  test('a search ends when the person whom it is for is erased', { timeout: 60_000 }, async () => {
    panelNow = 0
    const { id, until, fire } = await searched()
    const process = processAt(panel.url)
    await until(process, (status) => status === 'fetching')
    await fixture.dataKeys.erase({ organisation_id, subject: `application-${id}` })
    panelNow = 4_000

    await vi.waitFor(async () => {
      await fire(process)
      const last = (await fixture.log.read(`application-${id}`)).at(-1)
      expect(last?.type).toMatch(/^MarketSearch(Completed|Failed)$/)
    }, patience)
  })

  test('422 not_market_product, 422 mapping_incomplete with each field, 422 for a result that is none', async () => {
    const own = (await fixture.start()).body.data
    expect((await fixture.searchMarket(own.id)).body.error.code).toBe('not_market_product')

    const bare = (await fixture.start({ product_slug: 'market' })).body.data
    const { status, body } = await fixture.searchMarket(bare.id)
    expect(status).toBe(422)
    expect(body.error.code).toBe('mapping_incomplete')
    expect(Object.keys(body.error.fields ?? {}).toSorted()).toEqual([
      'answers.height_cm',
      'answers.smoker',
      'cover_amount_pence',
      'customer.dob',
      'term_years',
    ])
    expect((await fixture.selectResult(bare.id, {})).body.error.fields).toHaveProperty('result_id')
  })

  test('404: a web page without the share token', async () => {
    const { id } = (await fixture.start({ product_slug: 'market' }, as('browser'))).body.data
    expect((await fixture.searchMarket(id, as('browser'))).status).toBe(404)
  })
})
