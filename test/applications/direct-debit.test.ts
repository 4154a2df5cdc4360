import { describe, expect, test } from 'vitest'
import { application, type ApplicationCommand } from '#domain/applications/application.ts'
import type { CreateMandate } from '#domain/payments/mandates.ts'
import type { ApplicationStreamEvent } from '#domain/applications/record.ts'
import { nothingKnown } from '#domain/customers/record.ts'
import { MandateId } from '#domain/payments/events.ts'
import { annaId, answered, covered, started } from './builders.ts'
import { product_id } from './release.ts'
import { after, applied, digest, firstId, now, quote, secondId } from '../quotes/builders.ts'
import { rejected, scenariosOf, stateOf } from '../scenario.ts'

/** Bank details, and what the banks say of a Direct Debit mandate. */

const scenario = scenariosOf(application)
const quoted = after(applied(), quote())
const then = (
  name: string,
  given: readonly ApplicationStreamEvent[],
  when: ApplicationCommand,
  follows: readonly ApplicationStreamEvent[],
) => scenario(name, { given, at: now, when, then: follows })

/** Nobody is the customer yet; only a date of birth is known. */
const anonymous: readonly ApplicationStreamEvent[] = [
  started(),
  { type: 'SoftCustomerSaved', soft_customer: { ...nothingKnown, dob: '1992-03-10' }, by: 'server' },
  answered({ smoker: false }),
  covered({ cover_amount_pence: 25_000_000, term_years: 25 }),
]

const bank_details = {
  account_holder_name: 'Anna Ash',
  sort_code: '108800',
  account_number: '00012345',
  address_line1: null,
  address_line2: null,
  address_city: null,
  address_postal_code: null,
}
const saved: ApplicationStreamEvent = {
  type: 'BankDetailsSaved',
  quote_id: firstId,
  customer_id: annaId,
  bank_details,
  account_number_last4: '2345',
}

describe('bank details', () => {
  const save = { type: 'SaveBankDetails', quote_id: firstId, bank_details, now, digest } as const
  then('are saved with the last four digits of the account', quoted, save, [saved])
  then('are saved once', [...quoted, saved], save, [])
  const other = { ...bank_details, account_number: '00012346' }
  then('that are sent again replace what there was', [...quoted, saved], { ...save, bank_details: other }, [
    { ...saved, bank_details: other, account_number_last4: '2346' },
  ])
  then('are saved again for another quote', [...quoted, { ...saved, quote_id: secondId }], save, [saved])
  then('may come before there is a customer', after(anonymous, quote()), save, [{ ...saved, customer_id: null }])
  scenario('409 quote_expired: for a quote whose time is over', {
    given: quoted,
    at: now,
    when: { ...save, now: '2026-07-01T09:00:00.000Z' },
    then: rejected('quote_expired', undefined, 'Quote the application again'),
  })
})

const mandate_id = MandateId.parse('f1000000-0000-4000-8000-000000000001')
const otherMandate = MandateId.parse('f1000000-0000-4000-8000-000000000002')
const session = { quote_id: firstId, session_id: 'cs_1', provider_customer_id: 'cus_1' }
const mandate = {
  ...session,
  mandate_id,
  provider_mandate_id: 'mandate_1',
  provider_payment_method_id: 'pm_1',
  account_number_last4: '2345',
}
const made: ApplicationStreamEvent = { type: 'MandateCreated', ...mandate, product_id }
const activated: ApplicationStreamEvent = { type: 'MandateActivated', mandate_id }
const failed: ApplicationStreamEvent = { type: 'MandateFailed', mandate_id }
const cancelled = (end: 'refused' | 'revoked' | 'inactive'): ApplicationStreamEvent => ({
  type: 'MandateCancelled',
  mandate_id,
  end,
})
type Answer = CreateMandate['answer']
const says = (network_status: Answer['network_status'], active = true): Answer => ({ network_status, active })

describe('the provider’s own form', () => {
  const open = { type: 'OpenMandateSession', ...session } as const
  const opened: ApplicationStreamEvent = { type: 'MandateSessionOpened', ...session }
  then('is opened', quoted, open, [opened])
  then('is opened once', [...quoted, opened], open, [])
  then('may be opened again', [...quoted, opened], { ...open, session_id: 'cs_2' }, [{ ...opened, session_id: 'cs_2' }])
})

describe('a mandate is made', () => {
  const make = (answer = says('pending')): CreateMandate => ({
    type: 'CreateMandate',
    ...mandate,
    made_from: null,
    answer,
  })
  then('and waits for the banks', quoted, make(), [made])
  const ofDetails = { ...make(), session_id: null, made_from: bank_details }
  then('from bank details', [...quoted, saved], ofDetails, [{ ...made, session_id: null }])
  const replaced = { ...saved, bank_details: { ...bank_details, account_number: '00012346' } }
  then('not from bank details that were replaced meanwhile', [...quoted, saved, replaced], ofDetails, [])
  then('on the provider’s form, whatever bank details were saved before', [...quoted, saved], make(), [made])
  then('once, for the same session', [...quoted, made], make(says('accepted')), [])
  then('in place of another', [...quoted, { ...made, mandate_id: otherMandate }], make(), [made])
  then('which the banks have accepted', quoted, make(says('accepted')), [made, activated])
  then('which the banks have refused', quoted, make(says('refused')), [made, failed])
  then('which was revoked', quoted, make(says('revoked')), [made, cancelled('revoked')])
  then('on which the provider does not collect', quoted, make(says('accepted', false)), [made, cancelled('inactive')])
})

describe('the banks say of a mandate', () => {
  const answer = (said: Answer, provider_mandate_id = 'mandate_1', is_current = true) =>
    ({ type: 'RecordBankAnswer', provider_mandate_id, answer: said, is_current }) as const
  const pending = [...quoted, made]
  const active = [...pending, activated]
  then('nothing yet', pending, answer(says('pending')), [])
  then('that it is accepted', pending, answer(says('accepted')), [activated])
  then('that it is accepted, once', active, answer(says('accepted')), [])
  then('that it is refused', pending, answer(says('refused')), [failed])
  then('that it is refused after it was accepted', active, answer(says('refused')), [cancelled('refused')])
  then('that it is revoked', active, answer(says('revoked')), [cancelled('revoked')])
  then('that it is revoked before it was accepted', pending, answer(says('revoked')), [cancelled('revoked')])
  then('what the provider does not collect on any more', active, answer(says('accepted', false)), [
    cancelled('inactive'),
  ])
  then('nothing yet, but the provider does not collect on it', pending, answer(says('pending', false)), [
    cancelled('inactive'),
  ])
  const ended = [...active, cancelled('revoked')]
  then('that it was reinstated after it had failed', [...pending, failed], answer(says('accepted')), [activated])
  then('that it was reinstated after it had ended', ended, answer(says('accepted')), [activated])
  then('that it was accepted, at a time before it ended', ended, answer(says('accepted'), 'mandate_1', false), [])
  then('that it is not accepted yet, once it has ended', ended, answer(says('pending')), [])
  then('that it was reinstated, but the provider does not collect on it', ended, answer(says('accepted', false)), [])
  test('that it was reinstated, while another is to be made from other bank details', () => {
    const later = { occurred_at: '2026-06-20T09:00:00.000Z' }
    const waiting = application.evolve(stateOf(application, ended, now), saved, later)
    expect(application.decide(answer(says('accepted')), waiting)).toEqual([])
  })
  then('what changes nothing of another', pending, answer(says('accepted'), 'mandate_2'), [])
  then('what changes nothing where there is none', quoted, answer(says('accepted')), [])
})

describe('a customer rejects a quote', () => {
  const reject = { type: 'RejectQuote', quote_id: firstId, reason: 'too dear', now } as const
  const quoteRejected: ApplicationStreamEvent = { type: 'QuoteRejected', quote_id: firstId, reason: 'too dear' }
  const refuses = (name: string, given: readonly ApplicationStreamEvent[], status: string, at = now) =>
    scenario(`409 quote_not_bindable: ${name}`, {
      given,
      at: now,
      when: { ...reject, now: at },
      then: rejected('quote_not_bindable', undefined, `not current any more (${status})`),
    })

  then('that is current', quoted, reject, [quoteRejected])
  then('in its last moment', quoted, { ...reject, now: '2026-07-01T08:59:59.999Z' }, [quoteRejected])
  refuses('its time is over', quoted, 'expired', '2026-07-01T09:00:00.000Z')
  refuses('it was rejected', [...quoted, quoteRejected], 'rejected')
  refuses('it has expired', [...quoted, { type: 'QuoteExpired', quote_id: firstId }], 'expired')
  refuses(
    'it was replaced',
    after([...quoted, covered({ cover_amount_pence: 20_000_000, term_years: 25 })], quote({ quote_id: secondId })),
    'replaced',
  )
  scenario('409 quote_not_bindable: the application has ended', {
    given: [...quoted, { type: 'ApplicationDeclined', cause: 'team', reason_code: null, reason_message: null }],
    at: now,
    when: reject,
    then: rejected('quote_not_bindable'),
  })
  scenario('404 not_found: it is no quote of this application', {
    given: quoted,
    at: now,
    when: { ...reject, quote_id: secondId },
    then: rejected('not_found'),
  })
})
