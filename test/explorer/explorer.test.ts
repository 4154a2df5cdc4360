import { execFile } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { asOfAddresses } from '../../query-api/audit/as-of/addresses.ts'
import { testDatabase, type TestDatabase } from '../database.ts'
import { freePort, startServiceProcess, type ServiceProcess } from '../journeys/service-process.ts'
import { wayTo } from '../postgres/way.ts'
import { findBrowser, openBrowser } from './browser.ts'
import { press } from './press.ts'
import { noteWhatIsShown, subjectsOn } from './subjects.ts'
import { requestsOf, Document, Demo } from './requests.ts'

const fromOwnPage = { 'sec-fetch-site': 'same-origin' }

let directory: string
let origin: string
let service: ServiceProcess
let database: TestDatabase
let way: Awaited<ReturnType<typeof wayTo>>
let document: z.output<typeof Document>
let demo: z.output<typeof Demo>
/** How many requests were left before and after the demo had prepared its examples. */
let left: readonly [before: number, after: number]

beforeAll(async () => {
  // As `npm start` does before it starts the service.
  await promisify(execFile)(process.execPath, ['scripts/openapi.ts'])
  directory = await mkdtemp(join(tmpdir(), 'coverstream-explorer-'))
  await chmod(directory, 0o755)
  const port = await freePort()
  origin = `http://localhost:${port}`
  database = await testDatabase()
  way = await wayTo(database.url)
  const environment = { RATE_LIMIT_REQUESTS: '1000000', DATABASE_URL: way.url }
  service = startServiceProcess({ dataDir: join(directory, 'data'), port, environment })
  await service.ready
  document = Document.parse(await (await fetch(`${origin}/api/v1/openapi.json`)).json())
  const remaining = async () => Number((await fetch(`${origin}/api/v1/products`)).headers.get('ratelimit-remaining'))
  const before = await remaining()
  demo = Demo.parse(await (await fetch(`${origin}/api/v1/explorer/demo.json`, { headers: fromOwnPage })).json())
  left = [before, await remaining()]
}, 240_000)

afterAll(async () => {
  await service.kill('family')
  await way[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
  await rm(directory, { recursive: true, force: true })
})

/** Operations that a page cannot have a request ready for, and why. */
const exceptions: Readonly<Record<string, string>> = {
  postApplicationMarketQuotesSelect:
    'the providers of the market take seconds to answer: their results have no ids before',
  postInboundWebhook: 'only the other system has the secret that signs',
  postMessageNews: 'only the message gateway has the secret that signs',
  postOrganisationPolicyReview: 'premiums are reviewed after years: before, there is nothing to conclude',
  getOrganisationPolicyReviewExplanation: 'premiums are reviewed after years: before, there is nothing to explain',
  postOrganisationPolicyPremiumRefundClosure:
    'banks take days to send a refund back: before, there is nothing to close',
  postOrganisationApplicationCardPaymentClosure:
    'banks take days to send a refund back: before, there is nothing to close',
  postSessionProvider: 'it goes to a server of the firm that says who somebody is, and the demo has none',
  getSessionCallback: 'only such a server sends a browser there',
  deleteSession: 'it must name JSON as its type, which the page does only where there is a body',
  postOrganisationApprovalApprove: 'another user must approve what this key proposes',
  postOrganisationApprovalReject: 'another must reject what this key proposes',
  postOrganisationPolicyPremiumWriteOff: 'the banks take days to refuse a premium: before, it is not written off',
}

test('the explorer of the demo has a request that succeeds for every operation', { timeout: 120_000 }, async () => {
  const failures: string[] = []

  const asPage = { origin, referer: `${origin}/api/v1/explorer?area=api` }
  for (const { operationId, method, path, headers, body } of await requestsOf(document, demo, origin)) {
    if (operationId in exceptions) continue
    // As the page sends it: from its own origin.
    const response = await fetch(`${origin}${path}`, {
      method,
      headers: { ...headers, ...asPage },
      ...(body && { body }),
    })
    if (!response.ok) failures.push(`${operationId}: ${response.status} ${await response.text()}`)
  }

  expect(failures).toEqual([])
})

/** The operations of query-api that are shown as of a moment, as the page asks for each. */
const shownAsOf = async () => {
  const operations = Object.entries(document.paths).flatMap(([address, { get }]) =>
    get ? [[get.operationId, asOfAddresses[address.replaceAll(/\{(\w+)\}/g, ':$1')]] as const] : [],
  )
  const shown = new Set(operations.flatMap(([id, asOf]) => (asOf && 'types' in asOf ? [id] : [])))
  return (await requestsOf(document, demo, origin)).filter(({ operationId }) => shown.has(operationId))
}

/** Only the firm's own servers are shown it: with it, one acts for the customer. */
const withoutShareToken = (text: string): string => text.replace(/,"share_token":"[^"]+"/, '')

test('as of now, every record is as it is shown now', { timeout: 120_000 }, async () => {
  const authorization = { authorization: `Bearer ${demo.operator_key}` }
  const id = demo.examples['getOrganisationPayment']?.path['organisation_id'] ?? expect.fail('The demo has no payment.')
  const differences: unknown[] = []
  let compared = 0
  for (const { operationId, path, headers } of await shownAsOf()) {
    if (operationId in exceptions) continue
    const read = async () => (await fetch(`${origin}${path}`, { headers })).text()
    const before = await read()
    const query = new URLSearchParams({ address: path, known_at: '2100-01-01T00:00:00.000Z' })
    const asOf = await fetch(`${origin}/audit/v1/organisations/${id}/as_of?${query.toString()}`, {
      headers: authorization,
    })
    const text = await asOf.text()
    // Meanwhile it may have changed.
    if ((await read()) !== before) continue
    const answer: unknown = asOf.ok ? (JSON.parse(text) as { data: { answer: unknown } }).data.answer : text
    compared++
    if (JSON.stringify(answer) !== withoutShareToken(before))
      differences.push({ operationId, path, answer: JSON.stringify(answer), before })
  }
  expect(differences).toEqual([])
  expect(compared).toBeGreaterThan(30)
})

test('what the explorer signs in with is for its own page alone, on this machine', async () => {
  const address = `${origin}/api/v1/explorer/demo.json`
  const others = [{}, { 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'none' }]
  const throughProxy = [{ 'x-forwarded-for': '203.0.113.7' }, { forwarded: 'for=203.0.113.7' }]

  for (const headers of [...others, ...throughProxy.map((each) => ({ ...fromOwnPage, ...each }))])
    expect((await fetch(address, { headers: new Headers(headers) })).status).toBe(404)
})

test('the address that the service prints leads to the explorer', async () => {
  const { status, url } = await fetch(`${origin}/`)

  expect([status, url]).toEqual([200, `${origin}/api/v1/explorer`])
})

test('pages share what was prepared until one of them has pressed something', { timeout: 120_000 }, async () => {
  const examples = async () =>
    Demo.parse(await (await fetch(`${origin}/api/v1/explorer/demo.json`, { headers: fromOwnPage })).json()).examples
  const press = async (method: string, page: string) =>
    fetch(`${origin}/admin/v1/organisations`, { method, headers: { referer: `${origin}${page}` } })
  const first = await examples()

  await press('GET', '/api/v1/explorer')
  await press('POST', '/elsewhere')
  expect(await examples()).toEqual(first)
  await press('POST', '/api/v1/explorer?area=installation')
  expect((await examples())['getApplication']).not.toEqual(first['getApplication'])
})

test('what the demo prepares for a page counts as the one request that asks for it', () => {
  const [before, after] = left

  expect(after).toBe(before - 2)
})

const found = await findBrowser()
const title = 'a browser presses operations of the explorer, and each succeeds without signing in'

test.skipIf(found === undefined)(
  found === undefined ? `${title} (SKIPPED: no Chromium was found; set CHROMIUM)` : title,
  { timeout: 900_000 },
  async () => {
    await using browser = await openBrowser(found)
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, bypassCSP: true })
    const failures: string[] = []
    await noteWhatIsShown(page)
    page.on('pageerror', ({ message }) => failures.push(message))
    const screenshot = async (name: string) => {
      const folder = process.env['SCREENSHOTS']
      if (folder !== undefined) await page.screenshot({ path: join(folder, `explorer-${name}.png`) })
    }
    // Each takes the page about a second, so all of them are pressed only with EXPLORER=all.
    const isAll = process.env['EXPLORER'] === 'all'
    const few = ['getToken', 'getProduct', 'postApplications', 'postApplicationQuotes', 'getOrganisations']
    const isPressed = (operationId: string) => (isAll || few.includes(operationId)) && !(operationId in exceptions)
    // Webhooks are shown below, always, and there is nothing to press.
    const operation = '.opblock:not([id^="operations-webhooks"])'
    /** Opens what is about one subject, or closes it. */
    const toggle = async (subject: string) =>
      page.evaluate(`document.getElementById(${JSON.stringify(subject)}).click()`)
    const shown = new Set<string>()
    for (const area of ['api', 'organisation', 'installation']) {
      // What is pressed for one part of the page is not used up by another.
      if (area !== 'api' && !isAll) await page.route('**/explorer/demo.json', (route) => route.fulfill({ json: demo }))
      await page.goto(`${origin}/api/v1/explorer?area=${area}`)
      await page.waitForSelector('body[data-examples=ready] .opblock-tag', { timeout: 120_000 })
      await screenshot(`desktop-${area}`)
      for (const { subject, operations } of await subjectsOn(page)) {
        for (const each of operations) shown.add(each)
        const pressed = operations.filter(isPressed)
        if (pressed.length === 0) continue
        await toggle(subject)
        await page.waitForSelector(operation, { timeout: 60_000 })
        for (const each of pressed) {
          const { answer } = await press(page, `${subject.replace('operations-tag-', 'operations-')}-${each}`)
          if (!/^2\d\d/.test(answer.trim())) failures.push(`${each}: ${answer}`)
        }
        await toggle(subject)
        await page.waitForSelector(operation, { state: 'detached', timeout: 60_000 })
      }
    }
    const missing = Object.values(document.paths)
      .flatMap((methods) => Object.values(methods))
      .filter(({ operationId }) => !shown.has(operationId))
    expect(missing.map(({ operationId }) => operationId)).toEqual([])
    expect(failures).toEqual([])

    await page.setViewportSize({ width: 390, height: 844 })
    await page.evaluate('window.scrollTo(0, 0)')
    await screenshot('phone')
    const [width, visible] = z
      .tuple([z.number(), z.number()])
      .parse(await page.evaluate('[document.documentElement.scrollWidth, document.documentElement.clientWidth]'))
    expect(width).toBeLessThanOrEqual(visible)
  },
)

// The last one: it leaves the service without its store.
test(
  'while the store is away, an operation that needs it answers 503 with Retry-After, whichever it is, and none 500',
  { timeout: 240_000 },
  async () => {
    const requests = await requestsOf(document, demo, origin)

    way.refuse()
    const answers = await Promise.all(
      requests.map(async ({ operationId, method, path, headers, body }) => {
        const response = await fetch(`${origin}${path}`, { method, headers, ...(body && { body }) })
        const isTold = response.status === 503 && response.headers.has('retry-after')
        return { operationId, method, status: response.status, isTold }
      }),
    )

    expect(answers.filter(({ status, isTold }) => status >= 500 && !isTold)).toEqual([])
    // Whatever changes something needs the store; some of what can be read is in memory, as are credentials.
    // A link of a message that is not ours is refused before anything is looked up.
    const notOurs = ['postOutreachUnsubscribe', 'postOutreachSurvey']
    // So is a sign-in that no page of ours sends.
    const inMemory = ['getToken', 'postSession', ...notOurs, ...Object.keys(exceptions)]
    const changing = answers.filter(({ method, operationId }) => method !== 'GET' && !inMemory.includes(operationId))
    expect(changing.filter(({ isTold }) => !isTold)).toEqual([])
    expect(answers.filter(({ method, isTold }) => method === 'GET' && isTold).length).toBeGreaterThan(25)
  },
)
