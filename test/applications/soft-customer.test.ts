import { expect, test } from 'vitest'
import { application } from '#domain/applications/application.ts'
import type { ApplicationEvent } from '#domain/applications/events.ts'
import { pricedInputs } from '#domain/applications/state.ts'
import type { CustomerDetails } from '#domain/customers/events.ts'
import { nothingKnown } from '#domain/customers/record.ts'
import { QuoteId } from '#domain/values.ts'
import { rejected, scenariosOf, stateOf } from '../scenario.ts'
import {
  anna,
  annaId,
  application_id,
  customerSaved,
  declined,
  given,
  referred,
  saveCustomer,
  started,
} from './builders.ts'
import { guidedPresentation, release } from './release.ts'

const scenario = scenariosOf(application)

const saveSoft = (details: Partial<CustomerDetails>, refused: Record<string, string> = {}) =>
  ({ type: 'SaveSoftCustomer', caller: 'browser', details, refused }) as const

const softSaved = (details: Partial<CustomerDetails>): ApplicationEvent => ({
  type: 'SoftCustomerSaved',
  soft_customer: { ...nothingKnown, ...details },
  by: 'browser',
})

scenario('early details are saved and make nobody a customer', {
  given: [started()],
  when: saveSoft({ first_name: 'Anna', postal_code: 'YO1 7HH' }),
  then: [softSaved({ first_name: 'Anna', postal_code: 'YO1 7HH' })],
})
scenario('early details are merged over those told before', {
  given: [started(), softSaved({ first_name: 'Anna' })],
  when: saveSoft({ dob: '1992-03-10' }),
  then: [softSaved({ first_name: 'Anna', dob: '1992-03-10' })],
})
scenario('the same early details again change nothing', {
  given: [started(), softSaved({ first_name: 'Anna' })],
  when: saveSoft({ first_name: 'Anna' }),
  then: [],
})
scenario('early details that cannot be used are named', {
  given: [started()],
  when: saveSoft({}, { dob: 'must be in the past' }),
  then: rejected('validation_failed', { 'customer.dob': 'must be in the past' }),
})
for (const ended of [declined, referred])
  scenario(`${ended.type}: early details leave the application as it is`, {
    given: [started(), ended],
    when: saveSoft({ first_name: 'Anna' }),
    then: [],
  })
scenario('the details of the customer are merged over the early details', {
  given: [started(), softSaved({ first_name: 'Ann', dob: '1992-03-10' })],
  when: saveCustomer(given()),
  then: [customerSaved({ ...anna, dob: '1992-03-10' }, { sent: anna })],
})

const accepted = { type: 'QuoteAccepted', quote_id: QuoteId.parse(annaId), via: 'accept_quote' } as const
scenario('another early date of birth outdates an accepted quote', {
  given: [started(), softSaved({ dob: '1992-03-10' }), accepted],
  when: saveSoft({ dob: '1982-03-10' }),
  then: [softSaved({ dob: '1982-03-10' }), { type: 'AcceptanceOutdated', application_id }],
})
scenario('the customer’s date of birth counts, once there is one', {
  given: [started(), customerSaved({ ...anna, dob: '1992-03-10' }), accepted],
  when: saveSoft({ dob: '1982-03-10' }),
  then: [softSaved({ dob: '1982-03-10' })],
})

test('a price rests on the same inputs whether the date of birth came early or with the customer', () => {
  const dob = '1992-03-10'
  const inputsOf = (event: ApplicationEvent) => {
    const state = stateOf(application, [started(), event])
    return state && pricedInputs(state)
  }
  expect(inputsOf(softSaved({ dob }))).toBe(inputsOf(customerSaved({ ...anna, dob })))
})

const guided = started({ presentation_id: guidedPresentation.id })
const choose = (choice_key: string, stage: { stage_key?: string; stage_position?: number }) => ({
  type: 'ChooseInterstitial' as const,
  release,
  choice_key,
  stage_key: stage.stage_key,
  stage_position: stage.stage_position,
})
const chosen = (stage_key: string, choice_key: string): ApplicationEvent => ({
  type: 'InterstitialChosen',
  stage_key,
  choice_key,
})

scenario('a choice on an interstitial stage is recorded by the key of the stage', {
  given: [guided],
  when: choose('fork_go', { stage_key: 'fork', stage_position: 2 }),
  then: [chosen('fork', 'fork_go')],
})
scenario('the position of a stage is used when there is no key', {
  given: [guided],
  when: choose('end_call', { stage_position: 2 }),
  then: [chosen('end', 'end_call')],
})
scenario('choosing again replaces', {
  given: [guided, chosen('fork', 'fork_go')],
  when: choose('fork_call', { stage_key: 'fork' }),
  then: [chosen('fork', 'fork_call')],
})
scenario('choosing the same again changes nothing', {
  given: [guided, chosen('fork', 'fork_go')],
  when: choose('fork_go', { stage_key: 'fork' }),
  then: [],
})
scenario('a choice on an application that has ended leaves it as it is', {
  given: [guided, declined],
  when: choose('fork_go', { stage_key: 'fork' }),
  then: [],
})
for (const [what, stage, field] of [
  ['an unknown stage', { stage_key: 'details' }, 'stage_key'],
  ['an unknown position', { stage_position: 3 }, 'stage_position'],
  ['no stage', {}, 'stage_key'],
] as const)
  scenario(`${what} is refused`, {
    given: [guided],
    when: choose('fork_go', stage),
    then: rejected('validation_failed', { [field]: '' }),
  })
scenario('a stage that is no interstitial stage has no choices', {
  given: [started()],
  when: choose('go', { stage_key: 'details' }),
  then: rejected('validation_failed', { stage_key: 'no interstitial stage' }),
})
scenario('an unknown choice is refused', {
  given: [guided],
  when: choose('end_go', { stage_key: 'fork' }),
  then: rejected('validation_failed', { choice_key: 'fork_go, fork_call' }),
})
