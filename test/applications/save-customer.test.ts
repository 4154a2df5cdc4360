import { expect, test } from 'vitest'
import { application } from '#domain/applications/application.ts'
import { nothingKnown } from '#domain/customers/record.ts'
import { QuoteId } from '#domain/values.ts'
import { rejected, scenariosOf, stateOf } from '../scenario.ts'
import {
  anna,
  annaId,
  application_id,
  covered,
  customerSaved,
  declined,
  given,
  saveCustomer,
  start,
  started,
} from './builders.ts'
import type { CustomerDetails } from '#domain/customers/events.ts'

const scenario = scenariosOf(application)
const byBrowser = started({ started_by: 'browser' })
const browser = { caller: 'browser' } as const
const quoted = { type: 'QuoteAccepted', quote_id: QuoteId.parse(annaId), via: 'accept_quote' } as const
const bert = { first_name: 'Bert', last_name: 'Birch', email: 'bert@example.org' }
/** What the organisation already knows of Anna. */
const known: CustomerDetails = {
  ...nothingKnown,
  ...anna,
  last_name: 'Oak',
  phone_number: '+441134960000',
  city: 'Leeds',
}

scenario('a customer is saved, living in Great Britain unless they say otherwise', {
  given: [started()],
  when: saveCustomer(given()),
  then: [customerSaved()],
})
scenario('the details sent are merged over those held', {
  given: [started(), customerSaved({ ...anna, city: 'York', country: 'IE' })],
  when: saveCustomer(given({ first_name: 'Annie' })),
  then: [
    customerSaved({ ...anna, first_name: 'Annie', city: 'York', country: 'IE' }, { sent: { first_name: 'Annie' } }),
  ],
})
scenario('a second address line can be taken back', {
  given: [started(), customerSaved({ ...anna, address_line2: 'Flat 2' })],
  when: saveCustomer(given({ address_line2: null })),
  then: [customerSaved(anna, { sent: { address_line2: null } })],
})
scenario('another email address is another customer', {
  given: [started(), customerSaved()],
  when: saveCustomer(given({ email: bert.email })),
  then: [customerSaved({ ...anna, email: bert.email }, { sent: { email: bert.email } })],
})
scenario('an email address that is told early at the same moment, in another request, names nobody yet', {
  given: [started(), { type: 'SoftCustomerSaved', soft_customer: { ...nothingKnown, ...anna }, by: 'server' }],
  when: saveCustomer({ ...given({ dob: '1984-05-06' }), customer_id: undefined }),
  then: rejected('customer_invalid', { 'customer.email': 'is needed' }),
})
scenario('the result must have first name, last name and email address', {
  given: [started()],
  when: saveCustomer(given({ city: 'York' })),
  then: rejected('customer_invalid', {
    'customer.first_name': 'is needed',
    'customer.last_name': 'is needed',
    'customer.email': 'is needed',
  }),
})
scenario('details that cannot be used are refused, and not asked for twice', {
  given: [started()],
  when: saveCustomer(given({ first_name: 'Anna', last_name: 'Ash' }, { refused: { email: 'no address' } })),
  then: rejected('customer_invalid', { 'customer.email': 'no address' }),
})
scenario('the same details again change nothing', {
  given: [started(), customerSaved()],
  when: saveCustomer(given()),
  then: [],
})

scenario('a server sees what is known of the customer', {
  given: [started()],
  when: saveCustomer(given(anna, { known })),
  then: [customerSaved({ ...known, ...anna, country: 'GB' }, { sent: anna })],
})
scenario('what the application holds comes before what is known', {
  given: [started(), customerSaved({ ...anna, city: 'York' })],
  when: saveCustomer(given(anna, { known })),
  then: [customerSaved({ ...known, ...anna, city: 'York', country: 'GB' }, { sent: anna })],
})
scenario('the record of a customer that changed elsewhere is told again', {
  given: [started(), customerSaved({ ...known, ...anna, country: 'GB' })],
  when: saveCustomer(given(anna, { known })),
  then: [customerSaved({ ...known, ...anna, country: 'GB' }, { sent: anna })],
})
scenario('but not while that record has yet to follow the last save: a save that is sent again changes nothing', {
  given: [started(), customerSaved({ ...known, ...anna, country: 'GB' })],
  when: saveCustomer(given(anna, { known, known_at: '1970-01-01T00:00:00.000Z' })),
  then: [],
})
scenario('and it is told again when it changed at the moment of the last save', {
  given: [started(), customerSaved({ ...known, ...anna, country: 'GB' })],
  at: '2026-01-15T12:00:00.000Z',
  when: saveCustomer(given(anna, { known, known_at: '2026-01-15T12:00:00.000Z' })),
  then: [customerSaved({ ...known, ...anna, country: 'GB' }, { sent: anna })],
})
scenario('and it is told again when it changed after the last save', {
  given: [started(), customerSaved({ ...known, ...anna, country: 'GB' })],
  when: saveCustomer(given(anna, { known, known_at: '9999-01-01T00:00:00.000Z' })),
  then: [customerSaved({ ...known, ...anna, country: 'GB' }, { sent: anna })],
})
scenario('the record of a customer that says the same already is not told again', {
  given: [started(), customerSaved({ ...known, ...anna, country: 'GB' })],
  when: saveCustomer(given(anna, { known: { ...known, ...anna } })),
  then: [],
})
scenario('a web page is never shown what is known', {
  given: [byBrowser],
  when: saveCustomer(given(anna, { known }), browser),
  then: [customerSaved(anna, { by: 'browser' })],
})
scenario('nor when a server started the application', {
  given: [started()],
  when: saveCustomer(given(anna, { known }), browser),
  then: [customerSaved(anna, { by: 'browser' })],
})
scenario('nor by way of a server that saves details into its application', {
  given: [byBrowser],
  when: saveCustomer(given(anna, { known })),
  then: [customerSaved()],
})
scenario('nor once it has named the customer of a server’s application', {
  given: [started(), customerSaved(anna, { by: 'browser' })],
  when: saveCustomer(given({ city: 'York' }, { known })),
  then: [customerSaved({ ...anna, city: 'York' }, { sent: { city: 'York' } })],
})
scenario('an application that is started by a server with a known customer shows what is known', {
  given: [],
  when: start({ customer: given(anna, { known }) }),
  then: [started(), customerSaved({ ...known, ...anna, country: 'GB' }, { sent: anna })],
})
scenario('one that is started by a web page does not', {
  given: [],
  when: start({ customer: given(anna, { known }), ...browser }),
  then: [byBrowser, customerSaved(anna, { by: 'browser' })],
})

scenario('a ticked box is kept', {
  given: [started(), customerSaved()],
  when: saveCustomer(given({}), { consent_answers: { no_email: false } }),
  then: [customerSaved(anna, { sent: {}, consent_answers: { no_email: false } })],
})
scenario('boxes that were shown, none of them ticked, are an answer', {
  given: [started(), customerSaved()],
  when: saveCustomer(given({}), { consent_answers: {} }),
  then: [customerSaved(anna, { sent: {}, consent_answers: {} })],
})
scenario('a marketing question that was shown, and not answered, is answered', {
  given: [started(), customerSaved()],
  when: saveCustomer(given({}), { marketing_answers: {} }),
  then: [customerSaved(anna, { sent: {}, marketing_answers: {} })],
})
scenario('the same answers again change nothing', {
  given: [
    started(),
    customerSaved(anna, { consent_answers: { no_email: false }, marketing_answers: { sms: true, email: false } }),
  ],
  when: saveCustomer(given({}), { consent_answers: { no_email: false }, marketing_answers: { sms: true } }),
  then: [],
})
scenario('another marketing answer is kept', {
  given: [started(), customerSaved(anna, { marketing_answers: { sms: true } })],
  when: saveCustomer(given({}), { marketing_answers: { sms: false } }),
  then: [customerSaved(anna, { sent: {}, marketing_answers: { sms: false } })],
})
scenario('unknown boxes and channels are refused, and boxes are only ever ticked', {
  given: [started()],
  when: saveCustomer(given(), {
    consent_answers: { no_email: true, unheard: false },
    marketing_answers: { fax: true, sms: 'yes' },
  }),
  then: rejected('validation_failed', {
    'consent_answers.no_email': 'must be false',
    'consent_answers.unheard': 'not an opt-out',
    'marketing_answers.fax': 'one of email',
    'marketing_answers.sms': 'true or false',
  }),
})

scenario('another date of birth outdates what was accepted', {
  given: [started(), customerSaved(), quoted],
  when: saveCustomer(given({ dob: '1990-01-15' })),
  then: [
    customerSaved({ ...anna, dob: '1990-01-15' }, { sent: { dob: '1990-01-15' } }),
    { type: 'AcceptanceOutdated', application_id },
  ],
})
scenario('another name, phone number or address does not', {
  given: [started(), customerSaved(), quoted],
  when: saveCustomer(given({ last_name: 'Oak', city: 'York' })),
  then: [customerSaved({ ...anna, last_name: 'Oak', city: 'York' }, { sent: { last_name: 'Oak', city: 'York' } })],
})
scenario('where the visitor came from is kept', {
  given: [started(), customerSaved()],
  when: saveCustomer(given({}), { provenance: { locale: 'en' } }),
  then: [{ type: 'ProvenanceSaved', provenance: { locale: 'en' } }],
})
scenario('where the visitor came from is kept once', {
  given: [started({ provenance: { locale: 'en' } }), customerSaved()],
  when: saveCustomer(given({}), { provenance: { locale: 'en' } }),
  then: [],
})
scenario('nothing is saved after the end', {
  given: [started(), declined],
  when: saveCustomer(given()),
  then: rejected('application_closed'),
})

test('a customer puts the application in capture, and may have answered the marketing question', () => {
  const recordAfter = (...events: readonly ReturnType<typeof started>[]) =>
    stateOf(application, [started(), ...events])?.record
  expect(recordAfter(customerSaved())).toMatchObject({ status: 'in_capture', marketing_answered: false })
  expect(recordAfter(customerSaved(anna, { consent_answers: {} }))).toMatchObject({ marketing_answered: true })
  expect(recordAfter(customerSaved(anna, { marketing_answers: {} }), customerSaved())).toMatchObject({
    marketing_answered: true,
  })
  expect(stateOf(application, [started(), quoted, customerSaved()])?.record.status).toBe('quoted')
  expect(recordAfter(covered({ term_years: 5 }))).toMatchObject({ status: 'anonymous', customer: null })
})
