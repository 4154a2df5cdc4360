import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Application } from '#domain/applications/record.ts'
import { as, applicationApis, type Fixture } from './fixture.ts'
import { illnessCover } from './release.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await applicationApis()
})
afterAll(() => fixture[Symbol.asyncDispose]())

const anna = { first_name: 'Anna', last_name: 'Ash', email: 'anna@example.org' }
const shown = ({ share_token: _token, ...rest }: Application) => rest
const token = ({ share_token }: Application) => ({ 'X-Share-Token': String(share_token) })
const unknown = 'b0000000-0000-4000-8000-000000000009'

const started = async (changes: object = {}, headers?: Record<string, string>) =>
  (await fixture.start(changes, headers)).body.data

describe('GET /api/v1/applications/{id}', () => {
  test('200: the application, as the command that changed it last answered it', async () => {
    const { id } = await started({ answers: { smoker: true }, customer: anna })
    const { body: saved } = await fixture.save(id, { cover_amount_pence: 5_000_000, term_years: 20 })
    const { status, body } = await fixture.get(id)
    expect(status).toBe(200)
    expect(body).toEqual(saved)
  })

  test('200: a server-only application is told the share token every time, a browser application never', async () => {
    const application = await started({}, as('browser'))
    const { body: toServer } = await fixture.get(application.id)
    expect(toServer.data.share_token).toBe(application.share_token)
    const { body: toBrowser } = await fixture.get(application.id, as('browser', token(application)))
    expect(toBrowser.data).toEqual(shown(application))
  })

  test('200: the same id in upper case is the same application', async () => {
    const application = await started({}, as('browser'))
    const upper = application.id.toUpperCase()
    expect((await fixture.get(upper)).body.data).toEqual(application)
    expect((await fixture.get(upper, as('browser', token(application)))).body.data).toEqual(shown(application))
    expect((await fixture.save(upper, { answers: {} })).body.data).toEqual(application)
  })

  test('200: any browser application of the firm may use the share token', async () => {
    const application = await started({}, as('browser'))
    const { status } = await fixture.get(application.id, as('anotherBrowser', token(application)))
    expect(status).toBe(200)
  })
})

describe('404 not_found, identical to an unknown id', () => {
  const requests = {
    get: (id: string, headers: Record<string, string>) => fixture.get(id, headers),
    save: (id: string, headers: Record<string, string>) => fixture.save(id, { term_years: 10 }, headers),
    saveCustomer: (id: string, headers: Record<string, string>) =>
      fixture.saveCustomer(id, { customer: anna }, headers),
  }

  test.each(Object.entries(requests))('%s', async (_name, request) => {
    const [mine, other] = [await started({}, as('browser')), await started({}, as('browser'))]
    const toUnknown = await request(unknown, as('server'))
    expect(toUnknown.status).toBe(404)
    expect(toUnknown.body.error.code).toBe('not_found')

    for (const [id, headers] of [
      [mine.id, as('browser')],
      [mine.id, as('browser', { 'X-Share-Token': '' })],
      [mine.id, as('browser', { 'X-Share-Token': 'x'.repeat(43) })],
      [mine.id, as('browser', token(other))],
      [unknown, as('browser', token(mine))],
      [mine.id, as('stranger')],
      [mine.id, as('stranger', token(mine))],
    ] as const) {
      const { status, body } = await request(id, headers)
      expect({ status, body }).toEqual({ status: 404, body: toUnknown.body })
    }
    expect((await request('no-uuid', as('server'))).status).toBe(404)
    expect((await fixture.get(mine.id)).body.data).toEqual(mine)
  })
})

describe('PATCH /api/v1/applications/{id}', () => {
  test('200: answers are merged, and null removes one', async () => {
    const { id } = await started({ answers: { smoker: true, cigarettes: 20, wine: true } })
    const { status, body } = await fixture.save(id, { answers: { cigarettes: null, beer: true } })
    expect(status).toBe(200)
    expect(body.data.risk_factors).toEqual({ smoker: true, wine: true, beer: true, drinks: true })
  })

  test('200: changing an answer drops stored answers whose ask_if no longer holds', async () => {
    const { id } = await started({ answers: { smoker: true, cigarettes: 20, brand: 'Any' } })
    const { body } = await fixture.save(id, { answers: { smoker: false } })
    expect(body.data.risk_factors).toEqual({ smoker: false })
  })

  test('200: amount and term are saved, and null takes one back', async () => {
    const { id } = await started()
    await fixture.save(id, { cover_amount_pence: 5_000_000, term_years: 20 })
    const { body } = await fixture.save(id, { cover_amount_pence: null })
    expect(body.data).toMatchObject({ cover_amount_pence: null, term_years: 20 })
  })

  test('200: components and provenance alone are something to save', async () => {
    const { id } = await started()
    const components = [{ cover_id: illnessCover.id, term_years: 10, selected: true }]
    expect((await fixture.save(id, { components })).status).toBe(200)
    expect((await fixture.save(id, { provenance: { locale: 'en' } })).status).toBe(200)
  })

  test.each(['answers', 'components'])(
    '422 validation_failed: %s is null, and is not said to be required',
    async (name) => {
      const { id } = await started()
      const { status, body } = await fixture.save(id, { [name]: null, term_years: 20 })
      expect([status, body.error.fields]).toEqual([422, { [name]: 'must not be null' }])
    },
  )

  test('200: anonymous stays anonymous, in_capture stays in_capture', async () => {
    const anonymous = await started()
    expect((await fixture.save(anonymous.id, { term_years: 20 })).body.data.status).toBe('anonymous')
    const captured = await started({ customer: anna })
    expect((await fixture.save(captured.id, { term_years: 20 })).body.data.status).toBe('in_capture')
  })

  test.each([
    ['stuntman', 'declined'],
    ['pilot', 'postponed'],
    ['miner', 'referred'],
  ])('200: the answer %s ends the application: %s', async (work, status) => {
    const { id } = await started({ customer: anna })
    expect((await fixture.save(id, { answers: { work } })).body.data.status).toBe(status)

    const { status: refused, body } = await fixture.save(id, { term_years: 20 })
    expect([refused, body.error.code]).toEqual([409, 'application_closed'])
    const { body: customer } = await fixture.saveCustomer(id, { customer: { city: 'York' } })
    expect(customer.error.code).toBe('application_closed')
  })

  test('200: updated_at goes on, created_at stays; what changes nothing moves neither', async () => {
    const { id, created_at, updated_at } = await started()
    const { body } = await fixture.save(id, { term_years: 20 })
    expect(body.data.created_at).toBe(created_at)
    expect(body.data.updated_at >= updated_at).toBe(true)
    const { body: again } = await fixture.save(id, { term_years: 20 })
    expect(again).toEqual(body)
  })

  test('200: a browser application that proves itself is not told the share token again', async () => {
    const application = await started({}, as('browser'))
    const { body } = await fixture.save(application.id, { term_years: 20 }, as('browser', token(application)))
    expect(body.data).toMatchObject({ term_years: 20 })
    expect(body.data).not.toHaveProperty('share_token')
  })

  test.each([
    ['nothing was sent', {}, undefined],
    ['only what is unknown was sent', { unheard: 1 }, undefined],
    ['an unknown question', { answers: { unheard: 1 } }, 'answers.unheard'],
    ['a derived question', { answers: { age: 30 } }, 'answers.age'],
    ['a wrong type', { answers: { smoker: 'no' } }, 'answers.smoker'],
    ['outside its validation', { answers: { weight_kg: 1 } }, 'answers.weight_kg'],
    ['not an option', { answers: { work: 'baker' } }, 'answers.work'],
    ['not asked', { answers: { brand: 'Any' } }, 'answers.brand'],
    ['an amount outside the limits', { cover_amount_pence: 1 }, 'cover_amount_pence'],
    ['an amount that is no whole number', { cover_amount_pence: 1.5 }, 'cover_amount_pence'],
    ['a term outside the limits', { term_years: 41 }, 'term_years'],
    ['a term of text', { term_years: '20' }, 'term_years'],
    [
      'a component outside its limits',
      { components: [{ cover_index: 1, term_years: 31 }] },
      'components[0].term_years',
    ],
    [
      'a component with a term of text',
      { components: [{ cover_index: 1, term_years: '9' }] },
      'components[0].term_years',
    ],
    ['a component of no cover', { components: [{ cover_index: 7 }] }, 'components[0].cover_index'],
    ['components that are no list', { components: {} }, 'components'],
  ])('422 validation_failed: %s', async (_what, sent, input) => {
    const { id } = await started()
    const { status, body } = await fixture.save(id, sent)
    expect([status, body.error.code]).toEqual([422, 'validation_failed'])
    expect(body.error.fields && Object.keys(body.error.fields)).toEqual(input === undefined ? undefined : [input])
  })

  test('saves at once lose nothing', async () => {
    const { id } = await started({ customer: anna })
    const saves = [
      { answers: { smoker: false } },
      { answers: { wine: true } },
      { answers: { height_cm: 180 } },
      { answers: { weight_kg: 80 } },
      { cover_amount_pence: 5_000_000 },
      { term_years: 20 },
    ]
    const answers = await Promise.all([
      ...saves.map((sent) => fixture.save(id, sent)),
      fixture.saveCustomer(id, { customer: { city: 'York' } }),
    ])

    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 7 }, () => 200))
    expect((await fixture.get(id)).body.data).toMatchObject({
      risk_factors: { smoker: false, wine: true, height_cm: 180, weight_kg: 80, bmi: 24.6 },
      cover_amount_pence: 5_000_000,
      term_years: 20,
      customer: { city: 'York' },
    })
  })
})

test('forty saves of one application at once are all taken', async () => {
  const { id } = await started()
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, index) => fixture.save(id, { answers: { height_cm: 150 + index } })),
  )
  expect(answers.filter(({ status }) => status !== 200)).toEqual([])
})

describe('PATCH /api/v1/applications/{id}/customer', () => {
  test('200: the customer is saved, and an anonymous application is in_capture', async () => {
    const { id } = await started()
    const { status, body } = await fixture.saveCustomer(id, { customer: { ...anna, dob: '1990-01-15' } })
    expect(status).toBe(200)
    expect(body.data).toMatchObject({ status: 'in_capture', customer: { ...anna, dob: '1990-01-15', country: 'GB' } })
    expect((await fixture.get(id)).body).toEqual(body)
  })

  test('200: customers are matched by email within the organisation', async () => {
    const [one, other] = [await started({ customer: anna }), await started()]
    const { body } = await fixture.saveCustomer(other.id, { customer: { ...anna, email: 'Anna@Example.org' } })
    expect(body.data.customer?.id).toBe(one.customer?.id)
    const { body: else_ } = await fixture.saveCustomer(other.id, { customer: { email: 'bert@example.org' } })
    expect(else_.data.customer?.id).not.toBe(one.customer?.id)
  })

  test.each([
    [{ consent_answers: {} }, true],
    [{ marketing_answers: {} }, true],
    [{ consent_answers: { no_email: false }, marketing_answers: { sms: true } }, true],
    [{}, false],
  ])('200: with %j, marketing_answered is %s', async (sent, marketing_answered) => {
    const { id } = await started()
    const { body } = await fixture.saveCustomer(id, { customer: anna, ...sent })
    expect(body.data.marketing_answered).toBe(marketing_answered)
  })

  test.each([
    ['customer is missing', {}, 'customer'],
    ['customer is null', { customer: null }, 'customer'],
    ['customer is a list', { customer: [] }, 'customer'],
    ['an unknown opt-out', { customer: anna, consent_answers: { unheard: false } }, 'consent_answers.unheard'],
    [
      'an opt-out that is not false',
      { customer: anna, consent_answers: { no_email: true } },
      'consent_answers.no_email',
    ],
    ['an unknown channel', { customer: anna, marketing_answers: { fax: true } }, 'marketing_answers.fax'],
  ])('422 validation_failed: %s', async (_what, sent, input) => {
    const { id } = await started()
    const { status, body } = await fixture.saveCustomer(id, sent)
    expect([status, body.error.code]).toEqual([422, 'validation_failed'])
    expect(Object.keys(body.error.fields ?? {})).toEqual([input])
  })

  test('422 customer_invalid: fields name what is wrong, and what is missing', async () => {
    const { id } = await started()
    const { status, body } = await fixture.saveCustomer(id, {
      customer: { last_name: 'Ash', email: 'x', postal_code: 'y' },
    })
    expect([status, body.error.code]).toEqual([422, 'customer_invalid'])
    expect(Object.keys(body.error.fields ?? {}).toSorted()).toEqual([
      'customer.email',
      'customer.first_name',
      'customer.postal_code',
    ])
  })

  test('200: a postcode abroad is not held to the British form', async () => {
    const { id } = await started({ customer: { ...anna, country: 'FR' } })
    const { body } = await fixture.saveCustomer(id, { customer: { postal_code: '75001' } })
    expect(body.data.customer).toMatchObject({ postal_code: '75001', country: 'FR' })
  })
})
