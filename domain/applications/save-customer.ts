import { isSameJson } from '../canonical-json.ts'
import type { Release } from '../catalogue/events.ts'
import { nothingKnown, type ApplicationCustomer } from '../customers/record.ts'
import type { Fields } from '../rejection.ts'
import type { CustomerId } from '../values.ts'
import { consentFaults } from './consent.ts'
import type { ApplicationEvent, CallerKind } from './events.ts'
import { withOutdatedAcceptance } from './outdated-acceptance.ts'
import { mergeProvenance, tidyProvenance } from '../provenance.ts'
import { inputsRefused, refuseClosed, refuseInputs } from './refusals.ts'
import { presentationOfApplication, type ApplicationStreamEvent } from './record.ts'
import type { ApplicationState } from './state.ts'
import { CustomerDetails } from '../customers/events.ts'

/** The details that a request sent of a person, and what is known of the customer whom their email address names. */
export type CustomerGiven = {
  /** Tidied; only what was sent. */
  readonly details: Partial<CustomerDetails>
  /** Details that cannot be used, each with the reason. */
  readonly refused: Fields
  /** Undefined when no email address was sent. */
  readonly customer_id: CustomerId | undefined
  /** The customer's own record: only for a caller who may see and change it. */
  readonly known: CustomerDetails | undefined
  /** When the customer's own record last changed, as an ISO 8601 instant. */
  readonly known_at?: string | undefined
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

export const saveCustomer = (command: SaveCustomer, state: ApplicationState): readonly ApplicationStreamEvent[] => {
  refuseClosed(state.record)
  const { release, caller, customer } = command
  refuseInputs(
    'validation_failed',
    consentFaults(presentationOfApplication(release, state.record), command.consent_answers, command.marketing_answers),
  )
  const saved = customerSaved(customer, command, caller, state)
  if (saved.customer.email !== null && saved.customer.email === state.record.joint_customer?.email)
    refuseDetails('customer', { email: 'must not be that of the second person' })
  const provenance = mergeProvenance(state.provenance, tidyProvenance(command.provenance))
  const events: readonly ApplicationEvent[] = [
    ...(changesAnything(saved, customer, state) ? [saved] : []),
    ...(provenance && !isSameJson(provenance, state.provenance)
      ? [{ type: 'ProvenanceSaved', provenance } as const]
      : []),
  ]
  return withOutdatedAcceptance(state, events)
}

type CustomerSaved = Extract<ApplicationEvent, { type: 'CustomerSaved' }>

/** An application's customer details so far. */
type Holding = {
  readonly record: { readonly customer: ApplicationCustomer | null; readonly soft_customer: CustomerDetails | null }
  readonly open_to_visitors: boolean
}

const neededOfCustomer = ['first_name', 'last_name', 'email'] as const

type Merging = {
  readonly needed: readonly (keyof CustomerDetails)[]
  /** The organisation's own details of the person may be shown in the application. */
  readonly isShown: boolean
  /** The person's details as a visitor, before they were named. */
  readonly soft?: CustomerDetails | null
}

/** The details of a person after a request, and why it cannot be used, by detail. */
export const mergedDetails = (
  { details, refused, known }: CustomerGiven,
  held: ApplicationCustomer | null,
  { needed, isShown, soft }: Merging,
): { readonly merged: CustomerDetails; readonly refused: Fields } => {
  // A visitor may read what the application holds, so what others wrote about the person never gets into it.
  const merged = {
    ...nothingKnown,
    ...stated(isShown ? known : undefined),
    ...stated(soft),
    ...stated(held),
    ...details,
  }
  const missing = needed.filter((name) => merged[name] === null && refused[name] === undefined)
  return { merged, refused: { ...refused, ...Object.fromEntries(missing.map((name) => [name, 'is needed'])) } }
}

export const refuseDetails = (person: 'customer' | 'partner', refused: Fields): void =>
  refuseInputs(
    `${person}_invalid`,
    Object.fromEntries(Object.entries(refused).map(([name, reason]) => [`${person}.${name}`, reason])),
  )

/** The application's copy of its customer after a request whose consent has been checked. */
export const customerSaved = (
  given: CustomerGiven,
  { consent_answers, marketing_answers }: Consent,
  by: CallerKind,
  { record, open_to_visitors }: Holding,
): CustomerSaved => {
  const held = record.customer
  const isShown = by === 'server' && !open_to_visitors
  const { merged, refused } = mergedDetails(given, held, {
    needed: neededOfCustomer,
    isShown,
    soft: record.soft_customer,
  })
  refuseDetails('customer', refused)
  const customer_id = given.customer_id ?? held?.id
  // The address was told early at the same moment, in another request.
  if (!customer_id) throw inputsRefused('customer_invalid', { 'customer.email': 'is needed' })
  return {
    type: 'CustomerSaved',
    customer_id,
    customer: CustomerDetails.parse({ ...merged, country: merged.country ?? 'GB' }),
    sent: given.details,
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

/**
 * Sent details change a person's own record. That record follows what applications save: while it is older than the last save
 * of this one, it says nothing about the same details sent again.
 */
export const changesPerson = ({ details, known, known_at }: CustomerGiven, savedAt: string | null): boolean => {
  const isBehind = known_at !== undefined && savedAt !== null && known_at < savedAt
  return known !== undefined && !isBehind && !isSameJson({ ...known, ...details }, known)
}

/** Something follows from the request: for the application, or for the customer's own record. */
const changesAnything = (saved: CustomerSaved, given: CustomerGiven, state: ApplicationState): boolean => {
  const { record, consent_answers, marketing_answers, customer_saved_at } = state
  const isAnswered = saved.consent_answers !== null || saved.marketing_answers !== null
  return (
    !isSameJson({ id: saved.customer_id, ...saved.customer }, record.customer) ||
    changesPerson(given, customer_saved_at) ||
    (isAnswered && !record.marketing_answered) ||
    !isSameJson({ ...consent_answers, ...saved.consent_answers }, consent_answers) ||
    !isSameJson({ ...marketing_answers, ...saved.marketing_answers }, marketing_answers)
  )
}
