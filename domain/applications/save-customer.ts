import { isSameJson } from '../canonical-json.ts'
import type { Release } from '../catalogue/events.ts'
import { ApplicationCustomer, nothingKnown } from '../customers/record.ts'
import type { Fields } from '../rejection.ts'
import type { CustomerId } from '../values.ts'
import { consentFaults } from './consent.ts'
import type { ApplicationEvent, CallerKind } from './events.ts'
import { withOutdatedAcceptance } from './outdated-acceptance.ts'
import { mergeProvenance, tidyProvenance } from './provenance.ts'
import { refuseClosed, refuseInputs } from './refusals.ts'
import { presentationOfApplication } from './record.ts'
import type { ApplicationState } from './state.ts'
import type { CustomerDetails } from '../customers/events.ts'

/** The details that a request sent of a person, and what is known of the customer whom their email address names. */
export type CustomerGiven = {
  /** Tidied; only what was sent. */
  readonly details: Partial<CustomerDetails>
  /** What was sent and cannot be used: why, by detail. */
  readonly refused: Fields
  /** Undefined when no email address was sent. */
  readonly customer_id: CustomerId | undefined
  /** The customer's own record: only for a caller who may see and change it. */
  readonly known: CustomerDetails | undefined
}

export type Consent = {
  readonly consent_answers: Readonly<Record<string, unknown>> | undefined
  readonly marketing_answers: Readonly<Record<string, unknown>> | undefined
}

export type SaveCustomer = Consent & {
  readonly type: 'SaveCustomer'
  readonly caller: CallerKind
  readonly release: Release
  readonly customer: CustomerGiven
  readonly provenance: unknown
}

export const saveCustomer = (command: SaveCustomer, state: ApplicationState): readonly ApplicationEvent[] => {
  refuseClosed(state.record)
  const { release, caller, customer } = command
  refuseInputs(
    'validation_failed',
    consentFaults(presentationOfApplication(release, state.record), command.consent_answers, command.marketing_answers),
  )
  const saved = customerSaved(customer, command, caller, state)
  const provenance = mergeProvenance(state.provenance, tidyProvenance(command.provenance))
  const events: readonly ApplicationEvent[] = [
    ...(isNews(saved, customer, state) ? [saved] : []),
    ...(provenance && !isSameJson(provenance, state.provenance)
      ? [{ type: 'ProvenanceSaved', provenance } as const]
      : []),
  ]
  return withOutdatedAcceptance(state, events)
}

type CustomerSaved = Extract<ApplicationEvent, { type: 'CustomerSaved' }>

/** What an application holds of its customer so far. */
type Holding = {
  readonly record: { readonly customer: ApplicationCustomer | null }
  readonly open_to_visitors: boolean
}

const neededOfCustomer = ['first_name', 'last_name', 'email'] as const

/** The application's copy of its customer after a request whose consent has been checked. */
export const customerSaved = (
  { details, refused, customer_id, known }: CustomerGiven,
  { consent_answers, marketing_answers }: Consent,
  by: CallerKind,
  { record, open_to_visitors }: Holding,
): CustomerSaved => {
  const held = record.customer
  // A visitor may read what the application holds, so what others wrote about the customer never gets into it.
  const below = open_to_visitors || by === 'browser' ? undefined : known
  const merged = { ...nothingKnown, ...stated(below), ...stated(held), ...details }
  const missing = neededOfCustomer.filter((name) => merged[name] === null && refused[name] === undefined)
  const reasons = [...Object.entries(refused), ...missing.map((name) => [name, 'is needed'] as const)]
  refuseInputs('customer_invalid', Object.fromEntries(reasons.map(([name, reason]) => [`customer.${name}`, reason])))
  const id = customer_id ?? held?.id
  if (!id) throw new Error('A customer with an email address has no id.')
  return {
    type: 'CustomerSaved',
    customer: ApplicationCustomer.parse({ ...merged, id, country: merged.country ?? 'GB' }),
    sent: details,
    by,
    consent_answers: consent_answers ? refusals(consent_answers) : null,
    marketing_answers: marketing_answers ? booleans(marketing_answers) : null,
  }
}

const stated = (details: Partial<CustomerDetails> | null | undefined): Partial<CustomerDetails> =>
  Object.fromEntries(Object.entries(details ?? {}).filter(([, value]) => value !== null))

const refusals = (answers: Readonly<Record<string, unknown>>): Record<string, false> =>
  Object.fromEntries(Object.keys(answers).map((key) => [key, false]))

const booleans = (answers: Readonly<Record<string, unknown>>): Record<string, boolean> =>
  Object.fromEntries(Object.entries(answers).map(([key, value]) => [key, value === true]))

/** Whether anything follows from a request: for the application, or for the customer's own record. */
const isNews = (saved: CustomerSaved, { details, known }: CustomerGiven, state: ApplicationState): boolean => {
  const { record, consent_answers, marketing_answers } = state
  const isAnswered = saved.consent_answers !== null || saved.marketing_answers !== null
  return (
    !isSameJson(saved.customer, record.customer) ||
    (known !== undefined && !isSameJson({ ...known, ...details }, known)) ||
    (isAnswered && !record.marketing_answered) ||
    !isSameJson({ ...consent_answers, ...saved.consent_answers }, consent_answers) ||
    !isSameJson({ ...marketing_answers, ...saved.marketing_answers }, marketing_answers)
  )
}
