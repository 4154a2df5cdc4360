import { expect, test } from 'vitest'
import { productEvents, type Draft, type ProductEvent } from '#domain/catalogue/events.ts'
import { ApplicationId, OrganisationId } from '#domain/values.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { sql } from '#infra/postgres/postgres.ts'
import type { Caller } from '#infra/http/route.ts'
import { shareTokenOf } from '#infra/crypto/share-token.ts'
import { products, releases } from '../../projections/catalogue/projection.ts'
import { catalogueRoutes } from '../../query-api/catalogue/routes.ts'
import { readModel } from '../read-model.ts'
import { recorded } from '../recorded.ts'
import { browserCaller, serve, serverCaller } from '../serve.ts'
import { became, draft, drafted, organisation_id, published } from './builders.ts'

const keys = deriveKeys('bWFzdGVyIGtleSBvZiB0aGUgdGVzdHMsIDMyIGJ5dGVzIGxvbmc=')
const application_id = ApplicationId.parse('0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d')
const other = OrganisationId.parse('99999999-9999-4999-8999-999999999999')

const onSale = [drafted(), published(), became('sandbox'), became('production')]

/** The query API over read models that hold these events. */
const catalogue = async (events: readonly ProductEvent[] = onSale, caller: Caller = serverCaller()) => {
  const view = await readModel(products, releases)
  await view.pool.query('create table applications (organisation_id uuid, id uuid, journey_id uuid, release_id uuid)')
  const api = await serve(catalogueRoutes({ db: view.pool }), caller, { keys })
  const apply = (more: readonly ProductEvent[], of: Draft = draft()) =>
    view.apply(recorded(productEvents, `product-${of.product_id}`, more))
  await apply(events)

  return {
    ...api,
    apply,
    started: async (journey: string, release_id: string, organisation: OrganisationId = organisation_id) => {
      const journey_id = draft().journeys.find(({ slug }) => slug === journey)?.id
      await view.pool.query(sql`
        insert into applications values (${organisation}, ${application_id}, ${journey_id}, ${release_id})`)
    },
    [Symbol.asyncDispose]: async () => {
      await api[Symbol.asyncDispose]()
      await view[Symbol.asyncDispose]()
    },
  }
}

const { product_id: id, covers, journeys } = draft()
const [cover] = covers
const [standard, broker] = journeys

const productShown = {
  id,
  display_id: `prod_${id}`,
  slug: 'term-life',
  name: 'Term Life',
  product_type: 'term',
  currency_code: 'GBP',
  lifecycle_state: 'production',
  cooldown_days: 30,
  inclusions: ['Death during the term'],
  exclusions: ['Suicide in the first 12 months'],
  cover_bounds: {
    sum_assured_min_pence: 1_000_000,
    sum_assured_max_pence: 100_000_000,
    age_min: 18,
    age_max: 70,
    term_min: 5,
    term_max: 40,
  },
  covers: [
    {
      id: cover?.id,
      display_id: `cov_${cover?.id}`,
      cover_type: 'life',
      cover_index: 0,
      sum_assured_min_pence: 1_000_000,
      sum_assured_max_pence: 100_000_000,
      age_at_entry_min: 18,
      age_at_entry_max: 70,
      term_years_min: 5,
      term_years_max: 40,
      max_age_at_expiry: 80,
      premium_basis: 'guaranteed',
      review_period_years: null,
      minimum_premium_pence: 500,
      ci_payout_basis: 'additional',
      survival_period_days: 0,
      indexation_method: 'none',
      benefit_basis: 'lump_sum',
      title: null,
      pricing_basis: 'rated',
      member_premium_pence: null,
      members_factor: null,
      opt_in_factor: null,
    },
  ],
}

const standardShown = {
  id: standard?.id,
  display_id: `jrn_${standard?.id}`,
  slug: 'standard',
  name: 'Standard',
  description: null,
  journey_loading: '1.00',
  position: 0,
  lifecycle_state: 'production',
}
const brokerShown = {
  id: broker?.id,
  display_id: `jrn_${broker?.id}`,
  slug: 'broker',
  name: 'Broker',
  description: 'For brokers',
  journey_loading: '1.10',
  position: 1,
  lifecycle_state: 'sandbox',
}

test('200: a product has its fields, in the order of the specification, and no others', async () => {
  await using api = await catalogue()

  const { status, body } = await api.get('/api/v1/products/term-life')

  expect(status).toBe(200)
  expect(JSON.stringify(body)).toBe(JSON.stringify({ data: productShown }))
})

test('200: products are listed in name order, in any state', async () => {
  await using api = await catalogue()
  for (const [slug, name, state] of [
    ['zebra', 'aardvark', 'archived'],
    ['b-same', 'Same', 'draft'],
    ['a-same', 'same', 'draft'],
  ] as const) {
    const of = draft({ slug, name })
    await api.apply([drafted(of), published(2, of), ...(state === 'archived' ? [became(state)] : [])], of)
  }

  const { status, body } = await api.get('/api/v1/products')

  expect(status).toBe(200)
  expect(body).toMatchObject({
    data: [
      { slug: 'zebra', lifecycle_state: 'archived' },
      { slug: 'a-same', lifecycle_state: 'draft' },
      { slug: 'b-same' },
      { slug: 'term-life', lifecycle_state: 'production' },
    ],
  })
})

test('200: an unpublished product is listed with its draft identity, and none of its terms', async () => {
  await using api = await catalogue([drafted()])

  const { body } = await api.get('/api/v1/products')

  const bounds = {
    sum_assured_min_pence: null,
    sum_assured_max_pence: null,
    age_min: null,
    age_max: null,
    term_min: null,
    term_max: null,
  }
  const unpublished = {
    ...productShown,
    lifecycle_state: 'draft',
    inclusions: [],
    exclusions: [],
    covers: [],
    cover_bounds: bounds,
  }
  expect(body).toEqual({ data: [unpublished] })
  expect(await api.get('/api/v1/products/term-life')).toMatchObject({ status: 200, body: { data: unpublished } })
  expect(await api.get('/api/v1/products/term-life/journeys')).toMatchObject({ status: 200, body: { data: [] } })
})

test('200: unpublished changes never appear, and appear once published', async () => {
  await using api = await catalogue()
  const changed = draft({ name: 'Term Life Plus', covers: [] })

  await api.apply([drafted(changed)])
  expect(await api.get('/api/v1/products/term-life')).toMatchObject({
    body: { data: { name: 'Term Life', covers: [{}] } },
  })

  await api.apply([published(2, changed)])
  expect(await api.get('/api/v1/products/term-life')).toMatchObject({
    body: { data: { name: 'Term Life Plus', lifecycle_state: 'production', covers: [] } },
  })
})

test('200: bounds go across all covers, and terms are null without a cover of fixed term', async () => {
  const covers = [
    {
      ...cover,
      title: 'Whole',
      sum_assured_min_pence: 500,
      sum_assured_max_pence: 900,
      age_at_entry_max: 85,
      term_years_min: null,
      term_years_max: null,
    },
    { ...cover, title: 'Long', age_at_entry_min: 16, age_at_entry_max: 20, term_years_min: 30, term_years_max: 50 },
  ]
  const both = {
    ...draft(),
    covers: covers.map((each, cover_index) => ({ ...draft().covers[0], ...each, cover_index })),
  } as Draft
  await using api = await catalogue([drafted(both), published(1, both)])

  const { body } = await api.get('/api/v1/products/term-life')

  expect(body).toMatchObject({
    data: {
      cover_bounds: {
        sum_assured_min_pence: 500,
        sum_assured_max_pence: 100_000_000,
        age_min: 16,
        age_max: 85,
        term_min: 30,
        term_max: 50,
      },
    },
  })
  const whole = { ...both, covers: both.covers.slice(0, 1) }
  await api.apply([drafted(whole), published(2, whole)])
  expect(await api.get('/api/v1/products/term-life')).toMatchObject({
    body: { data: { cover_bounds: { sum_assured_max_pence: 900, age_min: 18, term_min: null, term_max: null } } },
  })
})

test('200: journeys are listed in dashboard order, in any state', async () => {
  await using api = await catalogue()

  const { status, body } = await api.get('/api/v1/products/term-life/journeys')

  expect(status).toBe(200)
  expect(JSON.stringify(body)).toBe(JSON.stringify({ data: [standardShown, brokerShown] }))
})

test('200: a journey has its fields', async () => {
  await using api = await catalogue()

  const { status, body } = await api.get('/api/v1/products/term-life/journeys/broker')

  expect(status).toBe(200)
  expect(JSON.stringify(body)).toBe(JSON.stringify({ data: brokerShown }))
})

const questions = '/api/v1/products/term-life/journeys/standard/questions'

test('200: questions come in asked order with product, journey and presentation', async () => {
  await using api = await catalogue()

  const { status, body } = await api.get(questions)

  const ids = new Map(standard?.questions.map((question) => [question.key, question.id]))
  const shown = (key: string, rest: object) => ({ id: ids.get(key), display_id: `qst_${ids.get(key)}`, key, ...rest })
  const plain = { group_key: null, group_label: null, lookup_source: null, suggestions: [], answer_options: [] }
  const you = { ...plain, group_key: 'you', group_label: 'You' }
  const common = { help_text: null }
  const options = standard?.questions[2]?.answer_options ?? []
  const presentation = standard?.presentations[0]
  const stage = (position: number, stage_type: string, title: string, config: object) => ({
    id: `stg_${presentation?.id}_${position}`,
    key: stage_type,
    position,
    stage_type,
    title,
    cta_label: null,
    config,
  })
  expect(status).toBe(200)
  expect(JSON.stringify(body)).toBe(
    JSON.stringify({
      data: {
        product: productShown,
        journey: standardShown,
        questions: [
          shown('smoker', {
            label: 'Do you smoke?',
            ...common,
            question_type: 'boolean',
            position: 0,
            required: true,
            validation: {},
            ...you,
          }),
          shown('smoking_amount', {
            label: 'How many a day?',
            ...common,
            question_type: 'integer',
            position: 1,
            required: true,
            validation: { min: 1, max: 200 },
            ...you,
            ask_if: { key: 'smoker', equals: true },
          }),
          shown('heart', {
            label: 'Have you had any of these?',
            ...common,
            question_type: 'enum',
            position: 2,
            required: true,
            validation: {},
            ...plain,
            answer_options: [
              {
                id: options[0]?.id,
                value: 'none',
                label: 'None of these',
                position: 0,
                terminal_reason_code: null,
                terminal_reason_message: null,
              },
              {
                id: options[1]?.id,
                value: 'attack',
                label: 'A heart attack',
                position: 1,
                terminal_outcome: 'decline',
                terminal_reason_code: 'heart',
                terminal_reason_message: 'We cannot offer cover after a heart attack.',
              },
            ],
          }),
          shown('height_cm', {
            label: 'How tall are you?',
            ...common,
            question_type: 'number',
            position: 3,
            required: true,
            validation: {},
            ...plain,
          }),
          shown('weight_kg', {
            label: 'What do you weigh?',
            ...common,
            question_type: 'number',
            position: 4,
            required: true,
            validation: {},
            ...plain,
          }),
          shown('bmi', {
            label: 'Body mass index',
            ...common,
            question_type: 'derived',
            position: 5,
            required: false,
            validation: {},
            ...plain,
          }),
          shown('occupation', {
            label: 'What do you do?',
            ...common,
            question_type: 'string',
            position: 6,
            required: true,
            validation: {},
            ...plain,
            lookup_source: 'occupations',
            suggestions: [
              { label: 'Nurse', search: 'nurse' },
              { label: 'Teacher', search: 'teacher school' },
            ],
          }),
        ],
        presentation: {
          id: presentation?.id,
          display_id: `prs_${presentation?.id}`,
          slug: 'web',
          name: 'Web',
          template_key: 'standard',
          is_default: true,
          stages: [
            stage(1, 'questions', 'About you', {
              all_remaining: true,
              group_keys: [],
              question_keys: [],
              per_page: null,
            }),
            stage(2, 'quote', 'Your price', {
              label: 'A month',
              show_components: true,
              allow_cover_edit: true,
              compare_terms: [],
            }),
            stage(3, 'payment', 'Payment', { methods: ['direct_debit'], collection_days: null, show_guarantee: true }),
          ],
        },
      },
    }),
  )
})

test('200: a presentation is chosen by its slug; an unknown one gives the default', async () => {
  await using api = await catalogue()

  expect(await api.get(`${questions}?presentation_slug=soft`)).toMatchObject({
    status: 200,
    body: {
      data: { presentation: { slug: 'soft', is_default: false, stages: [{}, { consent_notice: 'We keep it.' }] } },
    },
  })
  expect(await api.get(`${questions}?presentation_slug=unknown`)).toMatchObject({
    status: 200,
    body: { data: { presentation: { slug: 'web' } } },
  })
  expect(await api.get('/api/v1/products/term-life/journeys/broker/questions')).toMatchObject({
    status: 200,
    body: { data: { presentation: null } },
  })
})

const former = published(1)
const renamed = draft({
  name: 'Term Life Plus',
  journeys: [
    { slug: 'standard', name: 'Anew', questions: [{ key: 'smoker', label: 'Anew?', question_type: 'boolean' }] },
  ],
})
const republished = [...onSale, drafted(renamed), published(2, renamed)]
const firstRelease = former.type === 'ReleasePublished' ? former.release.id : ''

const whatTheApplicationStartedWith = {
  product: { name: 'Term Life', lifecycle_state: 'production' },
  journey: { name: 'Standard' },
  questions: [{ label: 'Do you smoke?' }, {}, {}, {}, {}, {}, {}],
  presentation: { slug: 'web' },
}
const whatIsCurrent = {
  product: { name: 'Term Life Plus' },
  journey: { name: 'Anew' },
  questions: [{ label: 'Anew?' }],
  presentation: null,
}

test('200: an application keeps the questions that it started with', async () => {
  await using api = await catalogue(republished)
  await api.started('standard', firstRelease)

  expect(await api.get(questions)).toMatchObject({ status: 200, body: { data: whatIsCurrent } })
  expect(await api.get(`${questions}?application_id=${application_id}`)).toMatchObject({
    status: 200,
    body: { data: whatTheApplicationStartedWith },
  })
})

test('200: an application keeps a journey that is gone since', async () => {
  await using api = await catalogue(republished)
  await api.started('broker', firstRelease)
  const gone = '/api/v1/products/term-life/journeys/broker/questions'

  expect(await api.get(`${gone}?application_id=${application_id}`)).toMatchObject({
    status: 200,
    body: { data: { journey: { slug: 'broker' } } },
  })
  expect(await api.get(gone)).toMatchObject({ status: 404 })
})

test('200: an application on another journey is ignored', async () => {
  await using api = await catalogue(republished)
  await api.started('broker', firstRelease)

  expect(await api.get(`${questions}?application_id=${application_id}`)).toMatchObject({
    body: { data: whatIsCurrent },
  })
})

test('200: an application of another organisation, an unknown one and one that is no id are ignored', async () => {
  await using api = await catalogue(republished)
  await api.started('standard', firstRelease, other)

  for (const ignored of [application_id, '0a1b2c3d-4e5f-4a6b-8c7d-000000000000', 'not-a-uuid', ''])
    expect(await api.get(`${questions}?application_id=${ignored}`)).toMatchObject({
      status: 200,
      body: { data: whatIsCurrent },
    })
})

test('200: from a browser application an application counts only with its share token', async () => {
  await using api = await catalogue(republished, browserCaller())
  await api.started('standard', firstRelease)
  const address = `${questions}?application_id=${application_id}`
  const another = ApplicationId.parse('0a1b2c3d-4e5f-4a6b-8c7d-000000000000')

  expect(await api.get(address)).toMatchObject({ status: 200, body: { data: whatIsCurrent } })
  expect(await api.get(address, { 'x-share-token': shareTokenOf(keys, another) })).toMatchObject({
    body: { data: whatIsCurrent },
  })
  expect(await api.get(address, { 'x-share-token': shareTokenOf(keys, application_id) })).toMatchObject({
    status: 200,
    body: { data: whatTheApplicationStartedWith },
  })
})

test('404: an unknown product or journey, one of another organisation, and what is no slug', async () => {
  await using api = await catalogue()
  await using foreign = await catalogue(onSale, serverCaller({ organisation_id: other }))

  for (const path of [
    'unknown',
    'unknown/journeys',
    'unknown/journeys/standard',
    'unknown/journeys/standard/questions',
    'term-life/journeys/unknown',
    'term-life/journeys/unknown/questions',
    '%00',
    'Term%20Life',
    '%E0%A4%A',
  ])
    expect(await api.get(`/api/v1/products/${path}`)).toMatchObject({
      status: 404,
      body: { error: { code: 'not_found' } },
    })
  for (const path of [
    'term-life',
    'term-life/journeys',
    'term-life/journeys/standard',
    'term-life/journeys/standard/questions',
  ])
    expect(await foreign.get(`/api/v1/products/${path}`)).toMatchObject({
      status: 404,
      body: { error: { code: 'not_found' } },
    })
  expect(await foreign.get('/api/v1/products')).toMatchObject({ status: 200, body: { data: [] } })
})

test('422: a parameter that is repeated', async () => {
  await using api = await catalogue()

  const { status, body } = await api.get(`${questions}?presentation_slug=a&presentation_slug=b`)

  expect(status).toBe(422)
  expect(body).toMatchObject({
    error: { code: 'invalid_parameter', fields: { presentation_slug: expect.any(String) as unknown } },
  })
})
