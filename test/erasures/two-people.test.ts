import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { readOwnSecrets } from '#infra/local-installation.ts'
import { nothingToDeclare } from '../../demo/answers.ts'
import { demoApplication } from '../../demo/demo.ts'
import { standInAddress } from '../../stand-ins/demo.ts'
import { testDatabase, type TestDatabase } from '../database.ts'
import { freePort, startServiceProcess, type ServiceProcess } from '../journeys/service-process.ts'
import { readableIn } from './readable.ts'

const patience = { timeout: 60_000, interval: 50 }

const dorothea = {
  first_name: 'Dorothea',
  last_name: 'Vandermolen',
  dob: '1988-04-17',
  email: 'dorothea@example.com',
  phone_number: '+442071838751',
  postal_code: 'SW1A 2AA',
  address_line1: '7 Marigold Mews',
  city: 'Wexcombe',
}
const ptolemy = {
  first_name: 'Ptolemy',
  last_name: 'Quillfeather',
  dob: '1985-09-23',
  email: 'ptolemy@example.com',
  phone_number: '+442071838752',
  postal_code: 'M1 1AE',
  address_line1: '9 Foxglove Fold',
  city: 'Harrowdene',
}
/** What each of them said or had said about them, as it would be found wherever it was written as it is. */
const ofDorothea = /dorothea|vandermolen|1988-04-17|2071838751|marigold|wexcombe|weight_kg\W+71\b|00012345/i
const ofPtolemy = /ptolemy|quillfeather|1985-09-23|2071838752|foxglove|harrowdene|weight_kg\W+93\b/i

type Answer = { readonly status: number; readonly text: string }

let database: TestDatabase
let service: ServiceProcess
let dataDir: string
let origin: string
let token = ''
let operatorKey = ''

const send = async (method: string, path: string, body?: object): Promise<Answer> => {
  const key = path.startsWith('/admin/') ? operatorKey : token
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const response = await fetch(origin + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  return { status: response.status, text: Buffer.from(await response.arrayBuffer()).toString('latin1') }
}

const done = async <Data = unknown>(method: string, path: string, body?: object): Promise<Data> => {
  const { status, text } = await send(method, path, body)
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`)
  return (JSON.parse(text) as { data: Data }).data // the test knows what it asks for
}

beforeAll(async () => {
  database = await testDatabase()
  dataDir = await mkdtemp(join(tmpdir(), 'coverstream-two-people-'))
  const port = await freePort()
  origin = `http://localhost:${port}`
  const environment = { DATABASE_URL: database.url, RATE_LIMIT_REQUESTS: '0', DELIVERY_CONCURRENCY: '4' }
  service = startServiceProcess({ dataDir, port, environment })
  await service.ready
  operatorKey = (await readOwnSecrets(dataDir))?.OPERATOR_KEY ?? ''
  const form = { ...(await demoApplication()), grant_type: 'client_credentials', scope: 'read write crm' }
  const answer = await fetch(`${origin}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({ ...form, resource: `${origin}/api/v1` }),
  })
  token = ((await answer.json()) as { access_token: string }).access_token
}, 120_000)

afterAll(async () => {
  await service.kill('family')
  await database[Symbol.asyncDispose]()
  await rm(dataDir, { recursive: true, force: true })
})

/**
 * A policy of two people that was sold, claimed on and cancelled: each step says something of one of them, or of both. What the
 * team writes about a policy is its first person's, and goes with that one.
 */
const policyOfTwo = async (first = dorothea, second = ptolemy) => {
  const application = await done<{ id: string; customer: { id: string } }>('POST', '/api/v1/applications', {
    product_slug: 'joint-term-life',
    journey_slug: 'standard',
    customer: first,
  })
  const path = `/api/v1/applications/${application.id}`
  const answers = { ...nothingToDeclare, weight_kg: 71 }
  await done('PATCH', path, { answers, cover_amount_pence: 20_000_000, term_years: 20 })
  const { joint_customer } = await done<{ joint_customer: { id: string } }>('PATCH', `${path}/partner`, {
    partner: second,
    answers: { ...nothingToDeclare, weight_kg: 93 },
  })
  const quote = await done<{ id: string }>('POST', `${path}/quotes`)
  const quotePath = `/api/v1/quotes/${quote.id}`
  await done('POST', `${quotePath}/confirm`)
  const { session } = await done<{ session: { id: string } }>('POST', `${quotePath}/bacs_setup_intent`)
  const completion = `${await standInAddress('stripe', dataDir)}/stand-in/checkout/sessions/${session.id}/complete`
  const bank = new URLSearchParams({ sort_code: '108800', account_number: '00012345' })
  expect((await fetch(completion, { method: 'POST', body: bank })).status).toBe(200)
  await done('POST', `${quotePath}/bacs_mandate`, { session_id: session.id })
  const today = new Date().toISOString().slice(0, 10)
  const policy = await done<{ id: string; organisation_id: string }>('POST', `${quotePath}/bind`, { start_date: today })

  const { rows } = await database.pool.query<{ organisation_id: string }>({
    text: 'select organisation_id from policies where id = $1',
    values: [policy.id],
  })
  const organisation = `/admin/v1/organisations/${rows[0]?.organisation_id}`
  const ofPolicy = `${organisation}/policies/${policy.id}`
  const claim = await done<{ claim_id: string }>('POST', `${ofPolicy}/claims`, {
    claim_type: 'life',
    happened_on: today,
    note: 'Dorothea Vandermolen rang',
  })
  const refused = { decision: 'decline', note: 'Nobody has died, says Dorothea' }
  await done('POST', `${ofPolicy}/claims/${claim.claim_id}/decisions`, refused)
  await done('POST', `${ofPolicy}/cancellation`, {
    reason: 'customer_request',
    note: 'Dorothea wants another policy',
  })
  return {
    organisation,
    records: [policy.id, claim.claim_id],
    first: application.customer.id,
    second: joint_customer.id,
    /** The schedule, and the notice of cancellation. */
    documents: async () => {
      const { documents } = await done<{ documents: { url: string }[] }>('GET', `/api/v1/policies/${policy.id}`)
      return Promise.all(documents.map(async ({ url }) => (await send('GET', new URL(url).pathname)).status))
    },
    paths: [path, quotePath, `/api/v1/policies/${policy.id}`, ofPolicy, `${ofPolicy}/timeline`, `${ofPolicy}/claims`],
  }
}

type PolicyOfTwo = Awaited<ReturnType<typeof policyOfTwo>>

const erase = async ({ organisation }: PolicyOfTwo, contact_id: string) => {
  await done('POST', `${organisation}/people/${contact_id}/erasure`, {})
  await vi.waitFor(async () => {
    expect(await done('GET', `${organisation}/erasures/${contact_id}`)).toMatchObject({ finished: true })
  }, patience)
}

const answersOf = async ({ organisation, first, second, paths }: PolicyOfTwo): Promise<string> => {
  const people = [first, second].map((id) => `${organisation}/people/${id}`)
  return (await Promise.all([...paths, ...people].map(async (path) => (await send('GET', path)).text))).join('\n')
}

describe('of two people with a policy, whoever is erased cannot be read any more', { timeout: 120_000 }, () => {
  let sold: PolicyOfTwo
  beforeAll(async () => {
    sold = await policyOfTwo()
  }, 120_000)

  test('before, both are shown, with the documents of their policy', async () => {
    await vi.waitFor(async () => {
      const shown = await answersOf(sold)
      expect([ofDorothea.test(shown), ofPtolemy.test(shown)]).toEqual([true, true])
      expect(await sold.documents()).toEqual([200, 200])
    }, patience)
  })

  test('the second, while the first is served as before', async () => {
    await erase(sold, sold.second)

    const answers = await answersOf(sold)
    expect(await readableIn(database.pool, ofPtolemy)).toEqual([])
    expect(ofPtolemy.exec(answers)?.[0]).toBeUndefined()
    expect(answers).toMatch(/dorothea@example\.com/)
    expect(await sold.documents()).toEqual([200, 200])
  })

  test('then the first, with the documents of their policy', async () => {
    await erase(sold, sold.first)

    const answers = await answersOf(sold)
    expect(await readableIn(database.pool, ofDorothea)).toEqual([])
    expect(ofDorothea.exec(answers)?.[0]).toBeUndefined()
    expect(await sold.documents()).toEqual([404, 404])
  })
})

test(
  'their policy and its claim go when their time is over, and neither the people nor what was paid',
  { timeout: 240_000 },
  async () => {
    const edmund = { ...dorothea, first_name: 'Edmund', last_name: 'Falkirk', email: 'edmund@example.com' }
    const rosalind = { ...ptolemy, first_name: 'Rosalind', last_name: 'Quilling', email: 'rosalind@example.com' }
    const sold = await policyOfTwo(edmund, rosalind)
    const balance = () => done('GET', `${sold.organisation}/ledger/trial_balance?as_of=2199-01-01`)
    const [slug] = await done<readonly { id: string; slug: string }[]>('GET', '/admin/v1/organisations').then((all) =>
      all.filter(({ id }) => sold.organisation.endsWith(id)).map((each) => each.slug),
    )
    await done('POST', '/admin/v1/clock', { forward_seconds: 100 * 86_400 })
    const told = /nobody has died|wants another policy|weight_kg\W+(71|93)\b/i
    await vi.waitFor(async () => expect((await answersOf(sold)).match(/Falkirk/)).not.toBeNull(), patience)
    expect(await readableIn(database.pool, told)).not.toEqual([])
    const owed = await balance()

    const set = await fetch(`${origin}/admin/v1/setup?apply=true`, {
      method: 'POST',
      headers: { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/yaml' },
      body: `organisations:\n  - { slug: ${slug}, name: A firm, retention: [{ claims: 30 days, policies: 30 days }] }\n`,
    })
    expect([set.status, set.status === 200 || (await set.text())]).toEqual([200, true])
    const receipts = `${sold.organisation}/record_erasures?state=erased`
    const gone = async () => {
      const all = await done<readonly { record: { id: string } }[]>('GET', receipts)
      return sold.records.every((id) => all.some(({ record }) => record.id === id))
    }
    // What is given back and written afterwards changes the policy: its time counts from then.
    for (let months = 0; months < 6 && !(await gone()); months++) {
      await done('POST', '/admin/v1/clock', { forward_seconds: 31 * 86_400 })
      await vi.waitUntil(gone, { timeout: 20_000, interval: 200 }).catch(() => undefined)
    }
    expect(await gone()).toBe(true)
    await vi.waitFor(async () => expect(await readableIn(database.pool, told)).toEqual([]), patience)

    const answers = await Promise.all(sold.paths.map(async (path) => (await send('GET', path)).text))
    expect(answers.join('').match(/edmund|falkirk|rosalind|quilling/i)).toBeNull()
    expect(await sold.documents()).toEqual([404, 404])
    const [policyId, claimId] = sold.records
    const ofPolicy = `${sold.organisation}/policies/${policyId}`
    const decided = await send('POST', `${ofPolicy}/claims/${claimId}/decisions`, {
      decision: 'close',
      note: 'It is old.',
    })
    expect([decided.status, decided.text]).toEqual([404, expect.stringContaining('There is no claim')])
    const another = { claim_type: 'life', happened_on: '2026-01-01', amount_pence: 100 }
    expect((await send('POST', `${ofPolicy}/claims`, another)).text).toContain('There is no policy')
    // Their own details stay, as the membership of one of them does.
    await vi.waitFor(async () => {
      expect(await readableIn(database.pool, /falkirk|quilling/i)).toEqual(['public.customers: falkirk'])
    }, patience)
    expect(await balance()).toEqual(owed)
  },
)
