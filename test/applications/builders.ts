import type { ApplicationEvent } from '#domain/applications/events.ts'
import type { CustomerGiven, SaveCustomer } from '#domain/applications/save-customer.ts'
import type { SaveApplication } from '#domain/applications/save.ts'
import type { StartApplication } from '#domain/applications/start.ts'
import { nothingKnown } from '#domain/customers/record.ts'
import { ApiApplicationId, ApplicationId, CustomerId } from '#domain/values.ts'
import { fullJourney, organisation_id, product_id, release, standardPresentation } from './release.ts'
import type { CustomerDetails } from '#domain/customers/events.ts'

/** The words of the scenarios: what was told to an application, and what followed. */

export const application_id = ApplicationId.parse('a0000000-0000-4000-8000-000000000001')
export const otherApplicationId = ApplicationId.parse('a0000000-0000-4000-8000-000000000002')
export const api_application_id = ApiApplicationId.parse('0d9e8c7b-6a5f-4e3d-9c2b-1a0f9e8d7c6b')
export const annaId = CustomerId.parse('c0000000-0000-4000-8000-000000000001')
export const bertId = CustomerId.parse('c0000000-0000-4000-8000-000000000002')

export const anna: Partial<CustomerDetails> = { first_name: 'Anna', last_name: 'Ash', email: 'anna@example.org' }

export const given = (
  details: Partial<CustomerDetails> = anna,
  changes: Partial<CustomerGiven> = {},
): CustomerGiven => ({
  details,
  refused: {},
  customer_id: details.email === undefined ? undefined : details.email === anna.email ? annaId : bertId,
  known: undefined,
  ...changes,
})

export const start = (changes: Partial<StartApplication> = {}): StartApplication => ({
  type: 'StartApplication',
  application_id,
  organisation_id,
  api_application_id,
  idempotency_key: 'key-1',
  caller: 'server',
  is_proven: false,
  asked_for: { product_slug: 'life', journey_slug: 'full', presentation_slug: null },
  product: { release, lifecycle_state: 'production' },
  stripe_test_mode: false,
  answers: undefined,
  customer: undefined,
  consent_answers: undefined,
  provenance: undefined,
  outreach_landing: null,
  today: '2026-01-15',
  ...changes,
})

export const save = (changes: Partial<SaveApplication>): SaveApplication => ({
  type: 'SaveApplication',
  release,
  answers: undefined,
  provenance: undefined,
  today: '2026-01-15',
  now: '2026-01-15T12:00:00.000Z',
  ...changes,
})

export const saveCustomer = (customer: CustomerGiven, changes: Partial<SaveCustomer> = {}): SaveCustomer => ({
  type: 'SaveCustomer',
  caller: 'server',
  release,
  customer,
  consent_answers: undefined,
  marketing_answers: undefined,
  provenance: undefined,
  ...changes,
})

type Of<Type> = Extract<ApplicationEvent, { type: Type }>

export const started = (changes: Partial<Of<'ApplicationStarted'>> = {}): ApplicationEvent => ({
  type: 'ApplicationStarted',
  application_id,
  organisation_id,
  api_application_id,
  started_by: 'server',
  idempotency_key: 'key-1',
  asked_for: { product_slug: 'life', journey_slug: 'full', presentation_slug: null },
  product_id,
  release_id: release.id,
  journey_id: fullJourney.id,
  presentation_id: standardPresentation.id,
  inline_bacs_mandate: true,
  direct_debit_first: false,
  stripe_test_mode: false,
  provenance: null,
  outreach_landing: null,
  inactive_after_days: 30,
  ...changes,
})

export const answered = (saved: Of<'AnswersSaved'>['saved'], ...removed: string[]): ApplicationEvent => ({
  type: 'AnswersSaved',
  saved,
  removed,
})

export const covered = (changes: Partial<Of<'CoverSaved'>>): ApplicationEvent => ({
  type: 'CoverSaved',
  cover_amount_pence: null,
  term_years: null,
  components: [],
  ...changes,
})

/** The application holds `details`, of which `sent` came with the request. */
export const customerSaved = (
  details: Partial<CustomerDetails> = anna,
  changes: Partial<Of<'CustomerSaved'>> = {},
): ApplicationEvent => ({
  type: 'CustomerSaved',
  customer_id: details.email === anna.email ? annaId : bertId,
  customer: { ...nothingKnown, country: 'GB', ...details },
  sent: details,
  by: 'server',
  consent_answers: null,
  marketing_answers: null,
  ...changes,
})

const ended = { cause: 'answer', reason_code: null, reason_message: null } as const

export const declined: ApplicationEvent = { type: 'ApplicationDeclined', ...ended }
export const referred: ApplicationEvent = { type: 'ApplicationReferred', ...ended }

export const because = (value: string, outcome: 'decline' | 'postpone' | 'refer') => ({
  cause: 'answer' as const,
  reason_code: `${value}_${outcome}`,
  reason_message: `A ${value} is a reason to ${outcome}.`,
})
