import { expect, test } from 'vitest'
import { ApplicationId } from '#domain/values.ts'
import { shareTokenOf } from '#infra/crypto/share-token.ts'
import { browserCaller } from '../serve.ts'
import { draft, drafted, published } from './builders.ts'
import { application_id, catalogue, keys, onSale, other, productShown, standard, standardShown } from './view.ts'

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
              units: {},
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
