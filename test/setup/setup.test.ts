import { expect, test } from 'vitest'
import { z } from 'zod'
import { neverCollected } from '#domain/catalogue/unfinished.ts'
import { price } from '#domain/rating/price.ts'
import { OrganisationId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'
import { readSetupText } from '../../cli/setup-plan/plan-text.ts'
import { setupApi } from './setup-api.ts'
import { file, withLine } from './builders.ts'

const csv = 'age,term,smoker,rate_e4\n30,10,n,23360\n30,10,s,56052\n'

const northlight = OrganisationId.parse('d3e00000-0000-4000-8000-000000000000')

const acme = OrganisationId.parse(derivedId('organisation', 'acme'))

const changes = (...of: readonly string[]) => ({ body: { data: { steps: of.map((change) => ({ change })) } } })

test('200: a plan says what would change, and changes nothing', async () => {
  await using api = await setupApi()

  const { status, body } = await api.plan(file)

  expect(status).toBe(200)
  expect(body).toEqual({
    data: {
      applied: false,
      steps: [
        {
          organisation: 'acme',
          what: 'organisation acme',
          change: 'create',
          details: expect.any(Array) as unknown,
          makes: [],
        },
        {
          organisation: 'acme',
          what: 'API application Server',
          change: 'create',
          details: expect.any(Array) as unknown,
          makes: ['client_secret'],
        },
        {
          organisation: 'acme',
          what: 'rate table life.level version 1',
          change: 'create',
          details: ['publishes 2 rates by age, term, smoker'],
          makes: [],
        },
        {
          organisation: 'acme',
          what: 'product term',
          change: 'create',
          makes: [],
          details: [
            'drafts 1 cover, 1 journey and 1 question',
            'publishes release 1',
            'becomes sandbox',
            'becomes production',
            expect.stringMatching(
              /^covers\[0\] cannot be priced everywhere: life.level version 1 has no rate at all for age 18 to 29, .*; has no rate at all for term 5 to 9, 11 to 40; more was not looked for$/,
            ) as unknown,
            neverCollected('live'),
            'has no factors of its own for size_bands, premium_basis, indexation, joint_first_event, multi_cover, by_answer: they change no rate',
            'has no underwriting: no answer loads the price, refers or declines',
            'has no policy fee',
          ],
        },
      ],
    },
  })
  expect(await api.written()).toEqual([])
})

test('200: a product that states no factors and no underwriting is priced by its rate table alone', async () => {
  await using api = await setupApi()
  await api.apply(file)
  const release = api.catalogue.current(acme, 'term')?.release
  if (!release) throw new Error('The product is on sale.')
  const rate_tables = await api.catalogue.rateTablesOf(release)

  const prices = [1_000_000, 50_000_000].map((cover_amount_pence) =>
    price({
      release,
      rate_tables,
      journey_loading: '1.00',
      start_date: '2026-06-01',
      lives: [{ dob: '1996-01-01', answers: { smoker: false, height_cm: 160, weight_kg: 120, alcohol_units: 90 } }],
      cover_amount_pence,
      term_years: 10,
      components: [],
    }),
  )

  // 2.3360 pence a month for each £1,000.
  expect(prices).toMatchObject([{ premium_pence: 23 }, { premium_pence: 1168 }])
})

test('200: applied, the file is so, and secrets are shown once', async () => {
  await using api = await setupApi()

  const { status, body } = await api.apply(file)

  expect(status).toBe(200)
  expect(body).toMatchObject({
    data: { applied: true, steps: [{}, { secrets: { client_secret: expect.any(String) as unknown } }, {}, {}] },
  })
  expect(await api.written()).toEqual([
    'OrganisationRegistered',
    'ApiApplicationCreated',
    'RateTablePublished',
    'ProductDrafted',
    'ReleasePublished',
    'ProductLifecycleChanged',
    'ProductLifecycleChanged',
  ])
  expect(api.catalogue.current(acme, 'term')).toMatchObject({
    lifecycle_state: 'production',
    release: { number: 1, currency_code: 'GBP' },
  })
  expect((await api.catalogue.rateTable(acme, 'life.level', 1))?.cells).toEqual({ '30|10|n': 23360, '30|10|s': 56052 })
})

test('200: applied again, the file changes nothing', async () => {
  await using api = await setupApi()
  await api.apply(file)
  const written = await api.written()

  const again = await api.apply(file)

  expect(again).toMatchObject(changes('none', 'none', 'none', 'none'))
  expect(JSON.stringify(again.body)).not.toContain('secret')
  expect(await api.written()).toEqual(written)
})

test('200: a change is planned as what changes, and becomes the next release', async () => {
  await using api = await setupApi()
  await api.apply(file)
  const changed = withLine(
    '              - { key: smoker, label: Do you smoke?, question_type: boolean }',
    '              - { key: smoker, label: Smoker?, question_type: boolean }',
  )

  const { body } = await api.plan(changed)
  await api.apply(changed)

  expect(body).toMatchObject({
    data: {
      steps: [
        {},
        {},
        {},
        {
          what: 'product term',
          change: 'change',
          details: [
            'journeys[0].questions[0].label: "Do you smoke?" → "Smoker?"',
            'publishes release 2',
            expect.stringContaining('cannot be priced everywhere') as unknown,
            neverCollected('live'),
          ],
        },
      ],
    },
  })
  expect(api.catalogue.current(acme, 'term')).toMatchObject({ release: { number: 2 } })
})

test('200: a plan names a product that is sold and never paid for, as long as no account is there', async () => {
  await using api = await setupApi()
  const namesIt = async (text: string): Promise<boolean> => {
    const { body } = await api.plan(text)
    return JSON.stringify(body).includes('of what is sold, nothing is ever collected')
  }
  const account = (mode: 'test' | 'live') =>
    `    payment_accounts:\n      - { mode: ${mode}, base_url: 'https://api.stripe.com', secret_key: sk_${mode}_acme }\n`
  const name = '    name: Acme Life\n'
  const withAccount = (mode: 'test' | 'live') => file.replace(name, `${name}${account(mode)}`)
  const onTrial = (text: string) => text.replace(name, `${name}    stripe_test_mode: true\n`)

  expect(await namesIt(file)).toBe(true)
  expect(await namesIt(withAccount('test'))).toBe(true)
  expect(await namesIt(withAccount('live'))).toBe(false)
  expect(await namesIt(onTrial(withAccount('live')))).toBe(true)
  expect(await namesIt(onTrial(withAccount('test')))).toBe(false)
  expect(await namesIt(file.replace('lifecycle_state: production', 'lifecycle_state: sandbox'))).toBe(false)
  // A product that is paid otherwise than the others.
  const ofItsOwn = (text: string, isTest: boolean) =>
    text.replace(
      'lifecycle_state: production',
      `lifecycle_state: production\n        checkout: { stripe_test_mode: ${isTest} }`,
    )
  expect(await namesIt(ofItsOwn(withAccount('live'), true))).toBe(true)
  expect(await namesIt(ofItsOwn(withAccount('test'), true))).toBe(false)
  expect(await namesIt(ofItsOwn(onTrial(withAccount('test')), false))).toBe(true)

  await api.apply(withAccount('live').replace('lifecycle_state: production', 'lifecycle_state: sandbox'))
  expect(await namesIt(file)).toBe(false)
})

test('200: what publish: false holds back stays a draft', async () => {
  await using api = await setupApi()
  await api.apply(file)

  const held = withLine('        name: Term', '        name: Term Plus\n        publish: false')
  expect(await api.apply(held)).toMatchObject(changes('none', 'none', 'none', 'change'))

  expect(api.catalogue.current(acme, 'term')).toMatchObject({ release: { number: 1, name: 'Term' } })
  expect(await api.apply(held)).toMatchObject(changes('none', 'none', 'none', 'none'))
})

test('200: a state that the file does not name is left as the operator put it', async () => {
  await using api = await setupApi()
  await api.apply(file)
  await api.patch(`/admin/v1/organisations/${acme}/products/term`, { lifecycle_state: 'archived' })

  const silent = withLine('        lifecycle_state: production', '        cooldown_days: 30')

  expect(await api.apply(silent)).toMatchObject(changes('none', 'none', 'none', 'none'))
  expect(await api.apply(file)).toMatchObject(changes('none', 'none', 'none', 'change'))
  expect(api.catalogue.current(acme, 'term')).toMatchObject({ lifecycle_state: 'production' })
})

test('200: several organisations stand in one file, and none sees another’s', async () => {
  await using api = await setupApi()
  const second = file.replace('organisations:', '').replace('slug: acme', 'slug: other').replace('23360', '11111')

  const { body } = await api.apply(file + second)

  expect(body).toMatchObject({
    data: {
      steps: [
        { organisation: 'acme' },
        {},
        {},
        {},
        { organisation: 'other' },
        {},
        {},
        { what: 'product term', change: 'create' },
      ],
    },
  })
  const other = OrganisationId.parse(derivedId('organisation', 'other'))
  expect((await api.catalogue.rateTable(acme, 'life.level', 1))?.cells).toMatchObject({ '30|10|n': 23360 })
  expect((await api.catalogue.rateTable(other, 'life.level', 1))?.cells).toMatchObject({ '30|10|n': 11111 })
  expect(api.catalogue.current(acme, 'term')?.release.product_id).not.toBe(
    api.catalogue.current(other, 'term')?.release.product_id,
  )
})

test('200: files that it names follow as a second document', async () => {
  await using api = await setupApi()
  const named = file.replace(/csv: \|\n(.*\n){3}/, 'file: rates/life.csv\n')

  const { body } = await api.plan(`${named}\n---\n${JSON.stringify({ files: { 'rates/life.csv': csv } })}`)

  expect(body).toMatchObject({ data: { steps: [{}, {}, { details: ['publishes 2 rates by age, term, smoker'] }, {}] } })
})

test('200: the demo can be set up, and set up again', { timeout: 60_000 }, async () => {
  await using api = await setupApi()
  const text = await readSetupText('demo/organisation.yaml')

  const first = await api.apply(text)
  const second = await api.apply(text)

  expect(first).toMatchObject({ status: 200 })
  expect(JSON.stringify(first.body)).not.toContain('cannot be priced')
  const { steps } = z
    .object({ data: z.object({ steps: z.array(z.object({ change: z.string() })) }) })
    .parse(second.body).data
  expect(steps.length).toBeGreaterThan(10)
  expect(new Set(steps.map(({ change }) => change))).toEqual(new Set(['none']))
  expect(api.catalogue.slugs(northlight)).toEqual([
    'term-life',
    'mortgage-life',
    'joint-term-life',
    'over-50s-plan',
    'whole-of-life',
    'critical-illness',
    'income-cover',
    'family-protection',
    'child-cover',
    'team-health',
    'market-term',
    'income-protection',
  ])
  expect(api.catalogue.current(northlight, 'term-life')).toMatchObject({
    lifecycle_state: 'production',
    release: { journeys: [{ slug: 'standard' }, { slug: 'broker' }] },
  })
  expect(api.catalogue.current(northlight, 'income-protection')).toBeUndefined()
})

test('200: the demo prices £250,000 for 25 years at the age of 34 at £12.50 a month, through brokers at £13.60', async () => {
  await using api = await setupApi()
  await api.apply(await readSetupText('demo/organisation.yaml'))
  const release = api.catalogue.current(northlight, 'term-life')?.release
  if (!release) throw new Error('The demo has a product on sale.')
  const rate_tables = await api.catalogue.rateTablesOf(release)

  const prices = release.journeys.map(({ journey_loading }) =>
    price({
      release,
      rate_tables,
      journey_loading,
      start_date: '2026-06-01',
      lives: [{ dob: '1992-01-01', answers: { smoker: 'no', height_cm: 180, weight_kg: 75, alcohol_units: 10 } }],
      cover_amount_pence: 25_000_000,
      term_years: 25,
      components: [],
    }),
  )

  expect(prices).toMatchObject([{ premium_pence: 1250 }, { premium_pence: 1360 }])
})

test('422: another version of what is published under a version', async () => {
  await using api = await setupApi()
  await api.apply(file)

  const { status, body } = await api.apply(file.replace('23360', '23361'))

  expect(status).toBe(422)
  expect(body).toMatchObject({
    error: { fields: { 'organisations[0].rate_tables[0].version': expect.stringContaining('line 10: ') as unknown } },
  })
})

test('422: what was sold does not go back to the sandbox', async () => {
  await using api = await setupApi({ sold: true })
  await api.apply(file)

  const { body } = await api.apply(file.replace('lifecycle_state: production', 'lifecycle_state: sandbox'))

  expect(body).toMatchObject({
    error: {
      fields: {
        'organisations[0].products[0].lifecycle_state': expect.stringContaining('cannot become sandbox') as unknown,
      },
    },
  })
})

test('422: a body that is no set-up file', async () => {
  await using api = await setupApi()

  expect(await api.post('/admin/v1/setup', { yaml: file })).toMatchObject({
    status: 422,
    body: { error: { code: 'validation_failed' } },
  })
  expect(await api.post('/admin/v1/setup?apply=perhaps', file)).toMatchObject({
    status: 422,
    body: { error: { code: 'invalid_parameter' } },
  })
})

const dearer = (by: number, version: number, text = file) =>
  text
    .replace('version: 1', `version: ${version}`)
    .replace('30,10,n,23360', `30,10,n,${23_360 * by}`)
    .replace('30,10,s,56052', `30,10,s,${56_052 * by}`)

test('200: a new version of a rate table is shown beside the one before it, with rates before and after', async () => {
  await using api = await setupApi()
  await api.apply(file)

  const { body } = await api.plan(dearer(10, 2))

  expect(body).toMatchObject({
    data: {
      steps: [
        {},
        {},
        {
          what: 'rate table life.level version 2',
          details: [
            'publishes 2 rates by age, term, smoker',
            'beside version 1: 2 of 2 rates change, to 10 times what they were',
            'age 30, term 10, smoker n: 23360 → 233600',
            'age 30, term 10, smoker s: 56052 → 560520',
          ],
        },
        {},
      ],
    },
  })
})

test('200: rates that a new version removes are shown as removed', async () => {
  await using api = await setupApi()
  await api.apply(file)
  const shorter = dearer(1, 2).replace('30,10,s,56052', '31,10,n,23361')

  const { body } = await api.plan(shorter)

  expect(body).toMatchObject({
    data: {
      steps: [
        {},
        {},
        {
          details: [
            'publishes 2 rates by age, term, smoker',
            'beside version 1: none of 2 rates changes',
            'removes 1 rate, among them all of smoker s',
            'adds 1 rate, among them all of age 31',
            'age 30, term 10, smoker s: 56052 → removed',
          ],
        },
        {},
      ],
    },
  })
})

test('200: of two new versions in a file, the second is shown beside the first', async () => {
  await using api = await setupApi()
  const second =
    '      - { key: life.level, version: 7, csv: "age,term,smoker,rate_e4\\n30,10,n,11680\\n30,10,s,56052" }\n'

  const { body } = await api.plan(file.replace('    products:\n', `${second}    products:\n`))

  expect(body).toMatchObject({
    data: {
      steps: [
        {},
        {},
        { details: ['publishes 2 rates by age, term, smoker'] },
        {
          details: [
            'publishes 2 rates by age, term, smoker',
            'beside version 1: 1 of 2 rates changes, to 0.5 times what it was',
            'age 30, term 10, smoker n: 23360 → 11680',
          ],
        },
        {},
      ],
    },
  })
})

const detailsOf = (body: unknown, what: string) =>
  z
    .object({ data: z.object({ steps: z.array(z.object({ what: z.string(), details: z.array(z.string()) })) }) })
    .parse(body)
    .data.steps.find((step) => step.what === what)?.details

test('200: a product that takes another version of a table is shown with sample prices before and after', async () => {
  await using api = await setupApi()
  await api.apply(file)

  const { body } = await api.plan(dearer(10, 2).replace('life.level: 1', 'life.level: 2'))

  expect(detailsOf(body, 'product term')?.slice(0, 5)).toEqual([
    'rate_tables.life.level: 1 → 2',
    'publishes release 2',
    '2 of 2 sample prices change, to between 9.98291 and 9.99109 times what they were',
    'age 30, term 10, smoker true: £5.61 → £56.05',
    'age 30, term 10, smoker false: £2.34 → £23.36',
  ])
})

test('200: of other underwriting, the answers that a rule asks for are among the sample prices', async () => {
  await using api = await setupApi()
  const ruled = (effects: string) =>
    file
      .replace(
        '        covers:',
        `        underwriting:
          derived: [{ key: bmi, kind: bmi, height_cm: height, weight_kg: weight }]
          refer_above_percent: 100
          decline_above_percent: 200
          rules:${effects}
        covers:`,
      )
      .replace(
        '              - { key: smoker,',
        `              - { key: height, label: Height, question_type: number }
              - { key: weight, label: Weight, question_type: number }
              - { key: diver, label: Do you dive?, question_type: boolean }
              - { key: smoker,`,
      )
  const rule = (code: string, when: string, effect: string) =>
    `\n            - { code: ${code}, label: A rule, when: ${when}, ${effect} }`
  const heavy = (percent: number) => rule('heavy', '{ key: bmi, min: 30 }', `extra_percent: ${percent}`)
  const dives = rule('dives', '{ key: diver, equals: true }', 'decision: decline')
  await api.apply(ruled(heavy(50) + dives))

  const { body } = await api.plan(ruled(heavy(75)))
  const renamed = await api.plan(ruled(heavy(50) + dives).replace('name: Term', 'name: Term life'))

  expect(detailsOf(body, 'product term')).toEqual(
    expect.arrayContaining([
      'underwriting.rules[1]: dives → nothing',
      '2 of 4 sample prices change, to 1.16857 times what they were',
      'age 30, term 10, smoker false, diver true: declined → £2.34',
      'age 30, term 10, smoker false, height 175, weight 91.9: £3.50 → £4.09',
    ]),
  )
  expect(JSON.stringify(detailsOf(renamed.body, 'product term'))).not.toContain('sample')
})
