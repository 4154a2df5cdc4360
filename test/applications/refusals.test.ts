import { describe, expect, test } from 'vitest'
import { application } from '#domain/applications/application.ts'
import { canStart } from '#domain/applications/start.ts'
import { Rejection } from '#domain/rejection.ts'
import { rejected, scenariosOf } from '../scenario.ts'
import {
  answered,
  anna,
  customerSaved,
  declined,
  given,
  referred,
  save,
  saveCustomer,
  start,
  started,
} from './builders.ts'
import { release } from './release.ts'

const scenario = scenariosOf(application)
const asked = { product_slug: 'life', journey_slug: 'full', presentation_slug: null }

scenario('an application that was never started is unknown', {
  given: [],
  when: save({}),
  then: rejected('not_found', undefined, 'There is no application with this id. Check the address.'),
})

for (const [end, why] of [
  [declined, 'This application has ended: declined. Start another one to change anything.'],
  [referred, 'This application is with the team: referred. Start another one to change anything.'],
] as const) {
  scenario(`nothing can be saved after ${end.type}, and the refusal says why`, {
    given: [started(), end],
    when: save({ answers: { smoker: true } }),
    then: rejected('application_closed', undefined, why),
  })
  scenario(`no customer can be saved after ${end.type}, and the refusal says why`, {
    given: [started(), end],
    when: saveCustomer(given()),
    then: rejected('application_closed', undefined, why),
  })
}

scenario('inputs that cannot be used are named in the message', {
  given: [started()],
  when: save({ answers: { smoker: 'perhaps', wine: 'red' } }),
  then: rejected(
    'validation_failed',
    { 'answers.smoker': 'must be true or false', 'answers.wine': 'must be true or false' },
    'Correct answers.smoker, answers.wine and send the request again.',
  ),
})

describe('a product or a journey that is not on sale is refused with the input that names it', () => {
  scenario('product', {
    given: [],
    when: start({ product: undefined }),
    then: rejected(
      'not_found',
      { product_slug: 'no product on sale has this slug' },
      'There is no product on sale with this slug. Check product_slug.',
    ),
  })
  scenario('journey', {
    given: [],
    when: start({ asked_for: { ...asked, journey_slug: 'retired' } }),
    then: rejected(
      'not_found',
      { journey_slug: 'no journey on sale has this slug' },
      'There is no journey on sale with this slug. Check journey_slug.',
    ),
  })
  scenario('an archived product, also with the test account', {
    given: [],
    when: start({ product: { release, lifecycle_state: 'archived' }, stripe_test_mode: true }),
    then: rejected('not_found', { product_slug: 'no product on sale' }),
  })
})

describe('a start that is repeated with the same key', () => {
  scenario('by a web page without proof is refused with what to do', {
    given: [started()],
    when: start({ caller: 'browser' }),
    then: rejected(
      'idempotency_replay_unproven',
      undefined,
      'Send the share token of its first answer in X-Share-Token',
    ),
  })

  const differs = 'differs from what the key started'
  const other = 'This idempotency key already started an application with another'
  const everything = {
    product_slug: 'health',
    journey_slug: 'plain',
    presentation_slug: 'short',
  }
  scenario('and wants something else is refused, and all that differs is named', {
    given: [started(), answered({ smoker: true, work: 'clerk' }), customerSaved(anna)],
    when: start({
      asked_for: everything,
      product: undefined,
      customer: given({ ...anna, email: 'bert@example.org' }),
      answers: { smoker: false, work: ' pilot ' },
    }),
    then: rejected(
      'idempotency_key_conflict',
      {
        product_slug: differs,
        journey_slug: differs,
        presentation_slug: differs,
        'customer.email': differs,
        'answers.smoker': differs,
        'answers.work': differs,
      },
      `${other} product, journey, presentation, customer, answer to smoker, answer to work. Use a new key.`,
    ),
  })
  scenario('and wants the product by its new slug finds the application', {
    given: [started()],
    when: start({ asked_for: { ...asked, product_slug: 'life-insurance' } }),
    then: [],
  })
  scenario('and wants the journey by its new slug finds the application', {
    given: [started({ asked_for: { ...asked, journey_slug: 'former' } })],
    when: start(),
    then: [],
  })
  scenario('and names one value where a selection is held wants something else', {
    given: [started(), answered({ conditions: ['asthma'] })],
    when: start({ answers: { conditions: 'asthma' } }),
    then: rejected('idempotency_key_conflict', { 'answers.conditions': differs }),
  })
  scenario('and names a selection where one value is held wants something else', {
    given: [started(), answered({ work: 'clerk' })],
    when: start({ answers: { work: ['clerk'] } }),
    then: rejected('idempotency_key_conflict', { 'answers.work': differs }),
  })
  scenario('and names what is no text where a selection is held wants something else', {
    given: [started(), answered({ conditions: ['asthma'] })],
    when: start({ answers: { conditions: 5 } }),
    then: rejected('idempotency_key_conflict', { 'answers.conditions': differs }),
  })
  scenario('and leaves an answer empty that is held finds the application', {
    given: [started(), answered({ smoker: true })],
    when: start({ answers: { smoker: null } }),
    then: [],
  })
})

describe('whether a start could start an application', () => {
  test('it could', () => {
    expect(canStart(start())).toBe(true)
  })

  test('it could not when it would be refused', () => {
    expect(canStart(start({ product: undefined }))).toBe(false)
  })

  test('a fault of ours is not taken for a refusal', () => {
    const broken = start({ asked_for: undefined as never })

    expect(() => canStart(broken)).toThrow(TypeError)
    expect(() => canStart(broken)).not.toThrow(Rejection)
  })
})
