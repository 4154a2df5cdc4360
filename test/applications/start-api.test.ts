import { afterAll, beforeAll, expect, test } from 'vitest'
import { as, applicationApis, type Fixture } from './fixture.ts'
import { fullJourney, release, shortPresentation, standardPresentation } from './release.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await applicationApis()
})
afterAll(() => fixture[Symbol.asyncDispose]())

let keys = 0
/** A key that was not used before. */
const fresh = () => `key-${++keys}`
const keyed = (key: string, headers: Record<string, string> = {}) => ({ ...headers, 'Idempotency-Key': key })
const anna = { first_name: 'Anna', last_name: 'Ash', email: 'anna@example.org' }
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[457][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

test('201: an application is started, with every field of an application and a share token', async () => {
  const { status, body } = await fixture.start()

  expect(status).toBe(201)
  const { id, created_at } = body.data
  expect(id).toMatch(uuid)
  expect(body).toEqual({
    data: {
      id,
      display_id: `app_${id}`,
      status: 'anonymous',
      idempotency_key: expect.stringMatching(uuid) as unknown,
      product_id: release.product_id,
      journey_id: fullJourney.id,
      customer: null,
      joint_customer: null,
      risk_factors: {},
      cover_amount_pence: null,
      term_years: null,
      policy_id: null,
      abandoned_reason: null,
      presentation: standardPresentation,
      inline_bacs_mandate: true,
      direct_debit_first: false,
      stripe_test_mode: false,
      market_quotes: null,
      marketing_answered: false,
      created_at,
      updated_at: created_at,
      share_token: expect.stringMatching(/^[\w-]{43}$/) as unknown,
    },
  })
  expect(Math.abs(Date.parse(created_at) - Date.now())).toBeLessThan(120_000)
})

test('201: with customer supplied it is in_capture, otherwise anonymous', async () => {
  const { body } = await fixture.start({ customer: { ...anna, phone_number: '07700 900123', postal_code: 'ls11ur' } })
  expect(body.data).toMatchObject({
    status: 'in_capture',
    customer: {
      id: expect.stringMatching(uuid) as unknown,
      title: null,
      ...anna,
      phone_number: '+447700900123',
      dob: null,
      postal_code: 'LS1 1UR',
      address_line1: null,
      address_line2: null,
      city: null,
      country: 'GB',
    },
  })
})

test('201: the id of a customer does not tell since when their email address is known', async () => {
  const email = 'since@example.org'
  const { body: first } = await fixture.start({ customer: { ...anna, email } })
  const { body: again } = await fixture.start({ customer: { ...anna, email } }, as('browser'))
  expect(first.data.customer?.id[14]).toBe('4')
  expect(again.data.customer?.id).toBe(first.data.customer?.id)
})

test('201: answers are saved by question key, derived ones with them', async () => {
  const { body } = await fixture.start({ answers: { smoker: true, cigarettes: 5, wine: true, beer: false } })
  expect(body.data.risk_factors).toEqual({ smoker: true, cigarettes: 5, wine: true, beer: false, drinks: true })
})

test('201: presentation_slug chooses the presentation, and an unknown one is the default', async () => {
  const { body: short } = await fixture.start({ presentation_slug: 'short' })
  expect(short.data.presentation).toEqual(shortPresentation)
  const { body: unknown } = await fixture.start({ presentation_slug: 'unheard' })
  expect(unknown.data.presentation).toEqual(standardPresentation)
  const { body: none } = await fixture.start({ journey_slug: 'plain' })
  expect(none.data.presentation).toBeNull()
})

test('201: an answer option with a terminal_outcome ends the application', async () => {
  const { status, body } = await fixture.start({ answers: { work: 'stuntman' } })
  expect([status, body.data.status]).toEqual([201, 'declined'])
})

test('201: an invalid outreach_landing or provenance is ignored', async () => {
  const { status } = await fixture.start({ outreach_landing: { not: 'a token' }, provenance: 'junk' })
  expect(status).toBe(201)
})

test('201: the key is kept, and the header wins over the body', async () => {
  const [inHeader, inBody] = [fresh(), fresh()]
  const { body: fromBody } = await fixture.start({ idempotency_key: inBody })
  expect(fromBody.data.idempotency_key).toBe(inBody)
  const { status, body } = await fixture.start({ idempotency_key: inBody }, keyed(inHeader))
  expect(status).toBe(201)
  expect(body.data.idempotency_key).toBe(inHeader)
})

test('201: keys belong to the API application', async () => {
  const key = fresh()
  const { body: one } = await fixture.start({}, keyed(key))
  const { status, body: other } = await fixture.start({}, keyed(key, as('anotherServer')))
  expect(status).toBe(201)
  expect(other.data.id).not.toBe(one.data.id)
})

test('201: unknown body keys are ignored, and __proto__ does no harm', async () => {
  const answers: unknown = JSON.parse('{"smoker":false,"__proto__":{"wine":true}}')
  const { status, body } = await fixture.start({ unheard: 1, answers })
  expect([status, body.data.risk_factors]).toEqual([201, { smoker: false }])
})

test('200: the same key with the same inputs answers the application already started', async () => {
  const key = fresh()
  const inputs = { answers: { smoker: false }, customer: anna, presentation_slug: 'standard' }
  const first = await fixture.start(inputs, keyed(key))
  const again = await fixture.start(inputs, keyed(key))
  expect(again.status).toBe(200)
  expect(again.body).toEqual(first.body)
})

test('200: an application that has moved on is answered as it is now', async () => {
  const key = fresh()
  const { body: first } = await fixture.start({ customer: anna }, keyed(key))
  await fixture.saveCustomer(first.data.id, { customer: { email: `${key}@example.org` } })
  const { body: saved } = await fixture.save(first.data.id, { term_years: 20 })
  const { status, body } = await fixture.start({ customer: anna }, keyed(key))
  expect(status).toBe(200)
  expect(body).toEqual(saved)
})

test('200: a browser application that repeats a start with its share token is answered without it', async () => {
  const key = fresh()
  const { status, body: first } = await fixture.start({}, as('browser', keyed(key)))
  expect(status).toBe(201)
  const { share_token, ...shown } = first.data
  expect(share_token).toMatch(/^[\w-]{43}$/)

  const again = await fixture.start({}, as('browser', keyed(key, { 'X-Share-Token': String(share_token) })))
  expect(again.status).toBe(200)
  expect(again.body).toEqual({ data: shown })
})

test.each([
  ['no share token', {}],
  ['a wrong one', { 'X-Share-Token': 'x'.repeat(43) }],
])(
  '409: a browser application with %s is unproven whatever else it sends, and nothing changes',
  async (_what, headers) => {
    const key = fresh()
    const { body: first } = await fixture.start({ customer: anna }, as('browser', keyed(key)))
    for (const sent of [
      {},
      { product_slug: 'unheard' },
      { journey_slug: 'unheard' },
      { answers: { smoker: 1, unheard: 2 } },
      { customer: { email: 'no address' } },
      { customer: { ...anna, email: 'bert@example.org' } },
      { consent_answers: { unheard: true } },
      { product_slug: '' },
      { product_slug: 5, journey_slug: null },
      { answers: 'x' },
      { customer: 'Anna', consent_answers: [] },
    ]) {
      const { status, body } = await fixture.start(sent, as('browser', keyed(key, headers)))
      expect([status, body.error.code]).toEqual([409, 'idempotency_replay_unproven'])
    }
    const { share_token, ...shown } = first.data
    const { body: now } = await fixture.get(first.data.id, as('browser', { 'X-Share-Token': String(share_token) }))
    expect(now.data).toEqual(shown)
  },
)

test.each([
  ['product', { product_slug: 'health' }, 'product_slug'],
  ['product that is not there', { product_slug: 'unheard' }, 'product_slug'],
  ['journey', { journey_slug: 'plain' }, 'journey_slug'],
  ['presentation', { presentation_slug: 'short' }, 'presentation_slug'],
  ['customer', { customer: { ...anna, email: 'bert@example.org' } }, 'customer.email'],
  ['answer', { answers: { smoker: true } }, 'answers.smoker'],
])('409: the same key with another %s is a conflict whose message names it', async (what, changes, input) => {
  const key = fresh()
  const { body: first } = await fixture.start({ customer: anna, answers: { smoker: false } }, keyed(key))
  const { status, body } = await fixture.start(changes, keyed(key))

  expect([status, body.error.code]).toEqual([409, 'idempotency_key_conflict'])
  expect(body.error.message).toContain(what.split(' ')[0])
  expect(Object.keys(body.error.fields ?? {})).toContain(input)
  expect((await fixture.get(first.data.id)).body).toEqual(first)
})

test('200: the customer’s email address is the same in any case', async () => {
  const key = fresh()
  await fixture.start({ customer: anna }, keyed(key))
  const { status } = await fixture.start({ customer: { ...anna, email: ' ANNA@example.org ' } }, keyed(key))
  expect(status).toBe(200)
})

test.each([
  ['an unknown product', { product_slug: 'unheard' }, 'product_slug'],
  ['an archived product', { product_slug: 'gone' }, 'product_slug'],
  ['a sandbox product without the test account', { product_slug: 'trial' }, 'product_slug'],
  ['an unknown journey', { journey_slug: 'unheard' }, 'journey_slug'],
  ['a journey that is not on sale', { journey_slug: 'trial' }, 'journey_slug'],
])('404: %s', async (_what, changes, input) => {
  const { status, body } = await fixture.start(changes)
  expect([status, body.error.code, Object.keys(body.error.fields ?? {})]).toEqual([404, 'not_found', [input]])
})

test('404: another organisation’s product', async () => {
  const { status, body } = await fixture.start({}, as('stranger'))
  expect([status, body.error.code]).toEqual([404, 'not_found'])
})

test.each([
  ['product_slug is missing', { product_slug: undefined }, 'product_slug'],
  ['journey_slug is missing', { journey_slug: undefined }, 'journey_slug'],
  ['product_slug is empty', { product_slug: '' }, 'product_slug'],
  ['journey_slug is empty', { journey_slug: '' }, 'journey_slug'],
  ['answers are no object', { answers: [1] }, 'answers'],
  ['an answer is of the wrong type', { answers: { smoker: 'no' } }, 'answers.smoker'],
  ['a question is unknown', { answers: { unheard: 1 } }, 'answers.unheard'],
  ['a question is not asked', { answers: { cigarettes: 1 } }, 'answers.cigarettes'],
  ['the customer is no object', { customer: 'Anna' }, 'customer'],
  ['an opt-out is unknown', { customer: anna, consent_answers: { unheard: false } }, 'consent_answers.unheard'],
  ['an opt-out is not false', { customer: anna, consent_answers: { no_email: true } }, 'consent_answers.no_email'],
  ['the key is too long', { idempotency_key: 'x'.repeat(256) }, 'idempotency_key'],
  ['the key holds control characters', { idempotency_key: 'x\u0000' }, 'idempotency_key'],
])('422 validation_failed: %s', async (_what, changes, input) => {
  const { status, body } = await fixture.start(changes)
  expect([status, body.error.code]).toEqual([422, 'validation_failed'])
  expect(Object.keys(body.error.fields ?? {})).toEqual([input])
})

test('422 validation_failed: the key in the header is too long', async () => {
  const { status, body } = await fixture.start({}, keyed('x'.repeat(256)))
  expect([status, body.error.code]).toEqual([422, 'validation_failed'])
  expect(Object.keys(body.error.fields ?? {})).toEqual(['Idempotency-Key'])
})

test('422 customer_invalid: fields name what is wrong with the customer', async () => {
  const { status, body } = await fixture.start({ customer: { first_name: 5, email: 'nowhere', dob: '2199-01-01' } })
  expect([status, body.error.code]).toEqual([422, 'customer_invalid'])
  expect(Object.keys(body.error.fields ?? {}).toSorted()).toEqual([
    'customer.dob',
    'customer.email',
    'customer.first_name',
    'customer.last_name',
  ])
})

test.each([
  ['no email address', { first_name: 'Anna', last_name: 'Ash' }],
  ['an email address that is none', { ...anna, email: 'x' }],
])('422 customer_invalid: a repeated start brings a customer with %s', async (_what, customer) => {
  for (const held of [undefined, anna]) {
    const key = fresh()
    const { body: first } = await fixture.start({ customer: held }, keyed(key))
    const { status, body } = await fixture.start({ customer }, keyed(key))
    expect([status, body.error.code]).toEqual([422, 'customer_invalid'])
    expect(Object.keys(body.error.fields ?? {})).toEqual(['customer.email'])
    expect((await fixture.get(first.data.id)).body).toEqual(first)
  }
})

test('a web page that proves its application, or whose key started none, is told what does not fit', async () => {
  const key = fresh()
  const browser = (headers = {}) => as('browser', keyed(key, headers))
  const unfit = { product_slug: '', answers: 'x' }
  expect((await fixture.start(unfit, browser())).body.error.code).toBe('validation_failed')

  const { body: first } = await fixture.start({}, browser())
  const proof = { 'X-Share-Token': String(first.data.share_token) }
  expect((await fixture.start(unfit, browser(proof))).body.error.code).toBe('validation_failed')
  const inBody = await fixture.start({ ...unfit, idempotency_key: key }, as('browser'))
  expect(inBody.body.error.code).toBe('idempotency_replay_unproven')
})

test('a refused request does not use its key up', async () => {
  const key = fresh()
  await fixture.start({ answers: { smoker: 'no' } }, keyed(key))
  expect((await fixture.start({ answers: { smoker: false } }, keyed(key))).status).toBe(201)
})

test('twenty starts at once with one key make one application, and all are answered with it', async () => {
  const key = fresh()
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => fixture.start({ customer: anna, answers: { smoker: true } }, keyed(key))),
  )

  expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
    ...Array.from({ length: 19 }, () => 200),
    201,
  ])
  for (const { body } of answers) expect(body).toEqual(answers[0]?.body)
  const { rowCount } = await fixture.pool.query("select 1 from applications where document->>'idempotency_key' = $1", [
    key,
  ])
  expect(rowCount).toBe(1)
})

test('twenty starts at once of a web page make one application, which only one of them may see', async () => {
  const key = fresh()
  const answers = await Promise.all(Array.from({ length: 20 }, () => fixture.start({}, as('browser', keyed(key)))))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(19)
})

test.each([['server'], ['browser']] as const)(
  'a %s that retries with another key names the former in replaces_idempotency_key, which abandons that application',
  async (caller) => {
    const [former, key] = [fresh(), fresh()]
    const { body: old } = await fixture.start({ answers: { smoker: true } }, as(caller, keyed(former)))
    const { status } = await fixture.start({ replaces_idempotency_key: former }, as(caller, keyed(key)))
    expect(status).toBe(201)

    const { body } = await fixture.get(old.data.id)
    expect(body.data).toMatchObject({ status: 'abandoned', abandoned_reason: 'superseded_by_retry' })
  },
)

test('an application that was changed since, or is for someone else, is left as it was', async () => {
  for (const change of [
    async (id: string) => fixture.save(id, { term_years: 20 }),
    async (id: string) => fixture.saveCustomer(id, { customer: anna }),
  ]) {
    const [former, key] = [fresh(), fresh()]
    const { body: old } = await fixture.start({}, keyed(former))
    const { body: changed } = await change(old.data.id)
    await fixture.start({ replaces_idempotency_key: former, customer: anna }, keyed(key))
    expect((await fixture.get(old.data.id)).body).toEqual(changed)
  }
})

test('the key of another API application, or of nothing, replaces nothing', async () => {
  const [former, key] = [fresh(), fresh()]
  const { body: old } = await fixture.start({}, as('server', keyed(former)))
  await fixture.start({ replaces_idempotency_key: former }, as('browser', keyed(key)))
  expect((await fixture.get(old.data.id)).body).toEqual(old)
  expect((await fixture.start({ replaces_idempotency_key: fresh() })).status).toBe(201)
})

test('200: a repeated start tries again to replace, without harm', async () => {
  const [former, key] = [fresh(), fresh()]
  const { body: old } = await fixture.start({}, keyed(former))
  const sent = { replaces_idempotency_key: former }
  await fixture.start(sent, keyed(key))
  const { body: abandoned } = await fixture.get(old.data.id)
  expect((await fixture.start(sent, keyed(key))).status).toBe(200)
  expect((await fixture.get(old.data.id)).body).toEqual(abandoned)
})

test('a start without a customer costs one append and no read', async () => {
  const calls: string[] = []
  const { append, read } = fixture.log
  Object.assign(fixture.log, {
    append: (...given: Parameters<typeof append>) => (calls.push('append'), append(...given)),
    read: (...given: Parameters<typeof read>) => (calls.push('read'), read(...given)),
  })
  await fixture.start({ answers: { smoker: true } })
  Object.assign(fixture.log, { append, read })
  expect(calls).toEqual(['append'])
})
