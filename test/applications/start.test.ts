import { application } from '#domain/applications/application.ts'
import { endedBy } from '#domain/applications/endings.ts'
import { nothingKnown } from '#domain/customers/record.ts'
import { ProductId } from '#domain/values.ts'
import { rejected, scenariosOf } from '../scenario.ts'
import { plainJourney, release, shortPresentation } from './release.ts'
import { anna, annaId, answered, because, covered, customerSaved, given, start, started } from './builders.ts'

const scenario = scenariosOf(application)
const browser = { caller: 'browser' } as const
const asked = (changes: object) => ({
  product_slug: 'life',
  journey_slug: 'full',
  presentation_slug: null,
  ...changes,
})
const asTrial = { product: { release, lifecycle_state: 'sandbox' as const } }

scenario('an application is started with the release that is published', {
  given: [],
  when: start(),
  then: [started()],
})
scenario('what came with the start is saved with it', {
  given: [],
  when: start({
    answers: { smoker: true, cigarettes: 20, born_on: '1990-01-16', wine: null },
    customer: given(),
    consent_answers: { no_email: false },
    provenance: { page_url: 'https://shop.example/life?utm_source=ad#top' },
    outreach_landing: 'token',
  }),
  then: [
    started({
      provenance: { page_url: 'https://shop.example/life?utm_source=ad', utm: { source: 'ad' } },
      outreach_landing: 'token',
    }),
    answered({ smoker: true, cigarettes: 20, born_on: '1990-01-16', age: 35 }),
    customerSaved(anna, { consent_answers: { no_email: false } }),
  ],
})
scenario('an answer with a terminal outcome ends it at once', {
  given: [],
  when: start({ answers: { work: 'pilot' } }),
  then: [started(), answered({ work: 'pilot' }), endedBy('answer', 'postpone', because('pilot', 'postpone'))],
})
scenario('the presentation asked for is kept', {
  given: [],
  when: start({ asked_for: asked({ presentation_slug: 'short' }) }),
  then: [started({ asked_for: asked({ presentation_slug: 'short' }), presentation_id: shortPresentation.id })],
})
scenario('an unknown presentation is the default one, as it is for the questions', {
  given: [],
  when: start({ asked_for: asked({ presentation_slug: 'unheard' }) }),
  then: [started({ asked_for: asked({ presentation_slug: 'unheard' }) })],
})
scenario('a journey without presentations has none', {
  given: [],
  when: start({ asked_for: asked({ journey_slug: 'plain' }) }),
  then: [
    started({
      asked_for: asked({ journey_slug: 'plain' }),
      journey_id: plainJourney.id,
      presentation_id: null,
    }),
  ],
})

scenario('a product that is not there cannot be applied for', {
  given: [],
  when: start({ product: undefined }),
  then: rejected('not_found', { product_slug: '' }),
})
for (const lifecycle_state of ['draft', 'sandbox', 'archived'] as const)
  scenario(`a ${lifecycle_state} product is not on sale`, {
    given: [],
    when: start({ product: { release, lifecycle_state } }),
    then: rejected('not_found', { product_slug: '' }),
  })
scenario('a sandbox product can be tried with the test account', {
  given: [],
  when: start({ ...asTrial, stripe_test_mode: true }),
  then: [started({ stripe_test_mode: true })],
})
for (const journey_slug of ['trial', 'retired', 'unheard'])
  scenario(`the ${journey_slug} journey is not on sale`, {
    given: [],
    when: start({ asked_for: asked({ journey_slug }) }),
    then: rejected('not_found', { journey_slug: '' }),
  })

scenario('answers are checked', {
  given: [],
  when: start({ answers: { smoker: 'yes', shoe_size: 42, age: 35 } }),
  then: rejected('validation_failed', {
    'answers.smoker': 'true or false',
    'answers.shoe_size': 'not a question',
    'answers.age': 'worked out',
  }),
})
scenario('a box that the presentation does not show cannot be ticked', {
  given: [],
  when: start({ customer: given(), consent_answers: { no_phone: false, no_email: true } }),
  then: rejected('validation_failed', {
    'consent_answers.no_phone': 'not an opt-out',
    'consent_answers.no_email': 'must be false',
  }),
})
scenario('a customer who is sent must be complete', {
  given: [],
  when: start({ customer: given({ first_name: 'Anna' }, { refused: { email: 'is no email address' } }) }),
  then: rejected('customer_invalid', {
    'customer.last_name': 'is needed',
    'customer.email': 'is no email address',
  }),
})

scenario('the same request finds the application and changes nothing', {
  given: [started(), answered({ smoker: false }), customerSaved()],
  when: start({ answers: { smoker: false }, customer: given() }),
  then: [],
})
scenario('what a repeated request leaves out is not held against it', {
  given: [started(), answered({ smoker: false }), customerSaved()],
  when: start(),
  then: [],
})
scenario('an answer that is not held conflicts with none, and is not saved', {
  given: [started()],
  when: start({ answers: { smoker: false, wine: null } }),
  then: [],
})
scenario('selections are the same in any order, texts with any space around them', {
  given: [started(), answered({ conditions: ['asthma', 'gout'], reference: 'ABC' })],
  when: start({ answers: { conditions: ['gout', 'asthma'], reference: ' ABC ' } }),
  then: [],
})
scenario('a part of a selection is another selection', {
  given: [started(), answered({ conditions: ['asthma', 'gout'] })],
  when: start({ answers: { conditions: ['gout'] } }),
  then: rejected('idempotency_key_conflict', { 'answers.conditions': '' }),
})
scenario('the same request is the same after the product was withdrawn', {
  given: [started()],
  when: start({ product: undefined }),
  then: [],
})
scenario('an ended application is still found', {
  given: [started(), { type: 'ApplicationDeclined', ...because('x', 'decline') }],
  when: start(),
  then: [],
})
scenario('another presentation by name can be the same one', {
  given: [started()],
  when: start({ asked_for: asked({ presentation_slug: 'standard' }) }),
  then: [],
})
scenario('a web page must prove that the application is its own, whatever else it sends', {
  given: [started(), customerSaved()],
  when: start({ ...browser, product: undefined, answers: { shoe_size: 1 }, customer: given({ email: 'x' }) }),
  then: rejected('idempotency_replay_unproven'),
})
for (const [what, customer, fields] of [
  ['no email address', given({ first_name: 'Anna', last_name: 'Ash' }), { 'customer.email': 'is needed' }],
  [
    'a detail that cannot be used',
    given(anna, { refused: { dob: 'must be in the past' } }),
    { 'customer.dob': 'must be in the past' },
  ],
] as const) {
  for (const [held, history] of [
    ['one with a customer', [started(), customerSaved()]],
    ['one without', [started()]],
    ['an ended one', [started(), customerSaved(), { type: 'ApplicationDeclined', ...because('x', 'decline') }]],
  ] as const)
    scenario(`a customer with ${what} is refused for ${held} as for a first start`, {
      given: history,
      when: start({ customer }),
      then: rejected('customer_invalid', fields),
    })
  scenario(`a customer with ${what} is refused before a conflict is looked for`, {
    given: [started()],
    when: start({ customer, asked_for: asked({ product_slug: 'other' }), product: undefined }),
    then: rejected('customer_invalid', fields),
  })
  scenario(`a web page that proves nothing is not told of a customer with ${what}`, {
    given: [started(), customerSaved()],
    when: start({ ...browser, customer }),
    then: rejected('idempotency_replay_unproven'),
  })
}
scenario('a server that repeats a start may leave out what is known of its customer', {
  given: [started(), customerSaved()],
  when: start({ customer: given({ email: 'anna@example.org' }, { known: { ...nothingKnown, ...anna } }) }),
  then: [],
})
scenario('a web page that proves it finds the application', {
  given: [started()],
  when: start({ ...browser, is_proven: true }),
  then: [],
})
scenario('a key that started another application is refused, and all that differs is named', {
  given: [started(), answered({ smoker: false, work: 'clerk' }), customerSaved(), covered({ term_years: 20 })],
  when: start({
    asked_for: { product_slug: 'other', journey_slug: 'trial', presentation_slug: 'short' },
    product: { release: { ...release, product_id: ProductId.parse(annaId) }, lifecycle_state: 'production' },
    answers: { smoker: true, work: 'clerk' },
    customer: given({ ...anna, email: 'bert@example.org' }),
  }),
  then: rejected('idempotency_key_conflict', {
    product_slug: '',
    journey_slug: '',
    presentation_slug: '',
    'customer.email': '',
    'answers.smoker': '',
  }),
})
scenario('the customer of the start is the same after their email address was changed', {
  given: [started(), customerSaved(), customerSaved({ ...anna, email: 'anna@new.example' })],
  when: start({ customer: given() }),
  then: [],
})
scenario('a customer for an application without one is another customer', {
  given: [started()],
  when: start({ customer: given() }),
  then: rejected('idempotency_key_conflict', { 'customer.email': '' }),
})
