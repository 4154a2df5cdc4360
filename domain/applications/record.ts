import { z } from 'zod'
import { JointBasis, type Release, type ReleaseJourney } from '../catalogue/events.ts'
import { Presentation, presentationRecord } from '../catalogue/record.ts'
import { CustomerDetails } from '../customers/events.ts'
import { checkoutEvents, ConfirmedStep } from '../checkout/events.ts'
import { ApplicationCustomer } from '../customers/record.ts'
import type { Recorded } from '../decider.ts'
import { Actor, type EventOf } from '../event.ts'
import { marketQuoteEvents, type MarketQuoteEvent } from '../market-quotes/events.ts'
import { evolveMarketSearch, MarketQuotes, MarketSearchRecord, shownMarketQuotes } from '../market-quotes/record.ts'
import { paymentEvents, type PaymentEvent } from '../payments/events.ts'
import { quoteEvents, type QuoteEvent } from '../quotes/events.ts'
import {
  ApiApplicationId,
  ApplicationId,
  CalendarDate,
  JourneyId,
  OrganisationId,
  Pence,
  PresentationId,
  ProductId,
  ReleaseId,
  type CustomerId,
} from '../values.ts'
import { AbandonedReason, Answers, applicationEvents, CallerKind, type ApplicationEvent } from './events.ts'

export const ApplicationStatus = z.enum([
  'started',
  'in_capture',
  'quoted',
  'referred',
  'bound',
  'declined',
  'postponed',
  'abandoned',
  'anonymous',
  'handed_off',
])
export type ApplicationStatus = z.infer<typeof ApplicationStatus>

/** An application as the specification shows it. */
export const Application = z
  .object({
    id: ApplicationId,
    display_id: z.string(),
    status: ApplicationStatus,
    idempotency_key: z.string().describe('The key it was started with; generated when none was sent.'),
    product_id: ProductId,
    journey_id: JourneyId,
    customer: ApplicationCustomer.nullable(),
    joint_customer: ApplicationCustomer.nullable().describe('The second person on joint cover.'),
    risk_factors: Answers.describe('The answers so far, by question key.'),
    cover_amount_pence: Pence.nullable(),
    term_years: z.int().nullable(),
    policy_id: z.uuid().nullable().describe('Set once the policy exists.'),
    abandoned_reason: AbandonedReason.nullable(),
    presentation: Presentation.nullable(),
    inline_bacs_mandate: z
      .boolean()
      .describe(
        "true: Direct Debit is set up on the payment provider's own form; false: bank details are sent directly.",
      ),
    direct_debit_first: z.boolean().describe('true: the first premium is taken by Direct Debit, not by card.'),
    stripe_test_mode: z.boolean().describe("true: payments use the provider's test account."),
    market_quotes: MarketQuotes.nullable().describe('The latest market search, for whole-of-market products.'),
    marketing_answered: z.boolean().describe("Whether the customer answered the firm's marketing question."),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    share_token: z
      .string()
      .optional()
      .describe('The key to the application; included only where the caller may see it.'),
  })
  .meta({ id: 'Application' })
export type Application = z.infer<typeof Application>

/** An application folded from its events: what is shown of it, and what is needed to find the rest. */
export const ApplicationRecord = Application.omit({ display_id: true, presentation: true, share_token: true }).extend({
  organisation_id: OrganisationId,
  api_application_id: ApiApplicationId,
  started_by: CallerKind,
  release_id: ReleaseId,
  presentation_id: PresentationId.nullable(),
  /** The second person as saved; not shown while the application is for one person. */
  partner: ApplicationCustomer.nullable(),
  /** The release's rule on applications for two people; null until a second person was saved. */
  joint: JointBasis.nullable(),
  /** A visitor's details before they were a customer; never shown to callers. */
  soft_customer: CustomerDetails.nullable(),
  /** The choice on each interstitial stage, by the key of the stage. */
  interstitial_choices: z.record(z.string(), z.string()),
  /** Its outcomes and their reasons, for the team; the latest last. */
  decisions: z.array(
    z.object({
      outcome: z.enum(['referred', 'declined', 'postponed', 'accepted', 'given_back', 'reopened', 'abandoned']),
      cause: z.enum(['answer', 'underwriting', 'team', 'customer', 'time']),
      reason_code: z.string().nullable(),
      reason_message: z.string().nullable(),
      /** Of a postponement: the day from which it can be opened again. */
      until: CalendarDate.nullable(),
      decided_at: z.iso.datetime(),
      /** The actor behind it; for an operator, the name of the key. */
      decided_by: Actor.nullable(),
    }),
  ),
  /** The status before it was abandoned. */
  former_status: z.enum(['started', 'anonymous', 'in_capture', 'quoted']).nullable(),
  inactive_after_days: z.int(),
  /** The latest search of the market, whole. */
  market_search: MarketSearchRecord.nullable(),
  /** When somebody last worked on it. */
  active_at: z.iso.datetime(),
  /** Evidence of what was shown before buying, the latest last. */
  confirmed: z.array(ConfirmedStep),
})
export type ApplicationRecord = z.infer<typeof ApplicationRecord>

/** An application as the team sees it. */
export const TeamApplication = ApplicationRecord.meta({ id: 'TeamApplication' })

/** All that an application's stream holds. */
export const applicationStreamEvents = {
  ...applicationEvents,
  ...quoteEvents,
  ...paymentEvents,
  ...checkoutEvents,
  ...marketQuoteEvents,
}
export type ApplicationStreamEvent = EventOf<typeof applicationStreamEvents>

/** The digits by which a customer names an application, and the firm's people find it. */
export const referenceOf = (id: ApplicationId): string => id.slice(-8)

/** The application's record after an event, for the command side and the read model alike. */
export const evolveRecord = (
  record: ApplicationRecord | undefined,
  event: ApplicationStreamEvent,
  { occurred_at, actor }: Recorded,
): ApplicationRecord | undefined => {
  if (event.type === 'ApplicationStarted') return started(event, occurred_at)
  if (!record) return undefined
  const change = changeBy(record, event, occurred_at)
  const active_at = isActivity(event) ? occurred_at : record.active_at
  const decisions = withDecision(record.decisions, event, { decided_at: occurred_at, decided_by: actor ?? null })
  const changed = { ...record, ...change, decisions, active_at, updated_at: occurred_at }
  const { joint, partner, risk_factors } = changed
  return { ...changed, joint_customer: joint && isJoint(joint, risk_factors) ? partner : null }
}

/** The date of birth that a price rests on: the customer's or, before it is known, the soft customer's. */
export const dobOf = ({ customer, soft_customer }: Pick<ApplicationRecord, 'customer' | 'soft_customer'>) =>
  customer?.dob ?? soft_customer?.dob ?? null

/** The customer id of the second person. One without a name was erased, and is nobody to add to. */
export const partnerIdOf = ({ partner }: Pick<ApplicationRecord, 'partner'>): CustomerId | null =>
  partner && partner.first_name !== null ? partner.id : null

/** Cover is for two people, given the answers of the application. */
export const isJoint = ({ mode, factor_key, joint_values }: JointBasis, answers: Answers): boolean =>
  mode === 'always' || (mode === 'by_answer' && joint_values.some((value) => value === answers[factor_key ?? '']))

const isQuoteEvent = (event: ApplicationStreamEvent): event is QuoteEvent => event.type in quoteEvents

export const isMarketEvent = (event: ApplicationStreamEvent): event is MarketQuoteEvent =>
  event.type in marketQuoteEvents

const isPaymentEvent = (event: ApplicationStreamEvent): event is PaymentEvent => event.type in paymentEvents

type Started = Extract<ApplicationEvent, { type: 'ApplicationStarted' }>
type Change = Partial<ApplicationRecord>

const started = (event: Started, occurred_at: string): ApplicationRecord => ({
  id: event.application_id,
  organisation_id: event.organisation_id,
  api_application_id: event.api_application_id,
  started_by: event.started_by,
  status: 'anonymous',
  idempotency_key: event.idempotency_key,
  product_id: event.product_id,
  release_id: event.release_id,
  journey_id: event.journey_id,
  presentation_id: event.presentation_id,
  partner: null,
  joint: null,
  soft_customer: null,
  interstitial_choices: {},
  decisions: [],
  former_status: null,
  market_search: null,
  inactive_after_days: event.inactive_after_days,
  active_at: occurred_at,
  confirmed: [],
  customer: null,
  joint_customer: null,
  risk_factors: {},
  cover_amount_pence: null,
  term_years: null,
  policy_id: null,
  abandoned_reason: null,
  inline_bacs_mandate: event.inline_bacs_mandate,
  direct_debit_first: event.direct_debit_first,
  stripe_test_mode: event.stripe_test_mode,
  market_quotes: null,
  marketing_answered: false,
  created_at: occurred_at,
  updated_at: occurred_at,
})

const changeByQuote = (event: QuoteEvent): Change => (event.type === 'QuoteAccepted' ? { status: 'quoted' } : {})

/** Whoever quotes again and again confirms again; the events keep it all. */
const mostConfirmed = 50

const changeByMarket = (record: ApplicationRecord, event: MarketQuoteEvent, occurred_at: string): Change => {
  const former = event.type === 'MarketSearchRequested' ? undefined : (record.market_search ?? undefined)
  const search = evolveMarketSearch(former, event, { occurred_at }) ?? null
  return {
    market_search: search,
    market_quotes: search && shownMarketQuotes(search),
    ...(event.type === 'ApplicationHandedOff' && { status: 'handed_off' as const }),
  }
}

const changeBy = (
  record: ApplicationRecord,
  event: Exclude<ApplicationStreamEvent, Started>,
  occurred_at: string,
): Change => {
  if (isQuoteEvent(event)) return changeByQuote(event)
  if (isMarketEvent(event)) return changeByMarket(record, event, occurred_at)
  // How it is paid for is not shown on the application.
  if (isPaymentEvent(event)) return {}
  const { status, risk_factors, marketing_answered } = record
  switch (event.type) {
    case 'AnswersSaved': {
      const kept = Object.entries(risk_factors).filter(([key]) => !event.removed.includes(key))
      return { risk_factors: { ...Object.fromEntries(kept), ...event.saved } }
    }
    case 'CoverSaved':
      return { cover_amount_pence: event.cover_amount_pence, term_years: event.term_years }
    case 'CustomerSaved': {
      const answered = event.consent_answers !== null || event.marketing_answers !== null
      return {
        customer: { id: event.customer_id, ...event.customer },
        status: status === 'anonymous' || status === 'started' ? 'in_capture' : status,
        marketing_answered: marketing_answered || answered,
      }
    }
    case 'PartnerSaved':
      return { partner: { id: event.customer_id, ...event.partner }, joint: event.joint }
    case 'SoftCustomerSaved':
      return { soft_customer: event.soft_customer }
    case 'InterstitialChosen':
      return { interstitial_choices: { ...record.interstitial_choices, [event.stage_key]: event.choice_key } }
    case 'StepsConfirmed':
      return { confirmed: [...record.confirmed, ...event.steps].slice(-mostConfirmed) }
    case 'PartnerAnswersSaved':
    case 'ProvenanceSaved':
      return {}
    case 'AcceptanceOutdated':
      return { status: 'in_capture' }
    case 'ApplicationDeclined':
      return { status: 'declined' }
    case 'ApplicationPostponed':
      return { status: 'postponed' }
    case 'ApplicationReferred':
      return { status: 'referred' }
    case 'ApplicationAccepted':
    case 'ApplicationReopened':
      return { status: event.status, abandoned_reason: null, former_status: null }
    case 'ApplicationGivenBack':
      return { status: 'in_capture' }
    case 'ApplicationBound':
      return { status: 'bound', policy_id: event.policy_id }
    case 'ApplicationAbandoned':
      return { status: 'abandoned', abandoned_reason: event.reason, former_status: openStatus(status) }
  }
}

const openStatus = (status: ApplicationStatus): ApplicationRecord['former_status'] =>
  status === 'started' || status === 'anonymous' || status === 'in_capture' || status === 'quoted' ? status : null

/** The event shows that somebody works on the application; a quote's expiry does not, nor a payment event. */
export const isActivity = (event: ApplicationStreamEvent): boolean =>
  event.type !== 'QuoteExpired' &&
  !isPaymentEvent(event) &&
  (!isMarketEvent(event) || event.type === 'MarketSearchRequested')

/** When the application counts as abandoned, unless somebody works on it before. */
export const abandonedFrom = (active_at: string, inactive_after_days: number): string =>
  new Date(Date.parse(active_at) + inactive_after_days * 86_400_000).toISOString()

type DecisionOnRecord = ApplicationRecord['decisions'][number]

/** A customer who comes and goes leaves many; the events keep them all. */
const mostDecisions = 50

const withDecision = (
  earlier: ApplicationRecord['decisions'],
  event: ApplicationStreamEvent,
  decided: Pick<DecisionOnRecord, 'decided_at' | 'decided_by'>,
): ApplicationRecord['decisions'] => {
  const decision = decisionBy(event)
  const unsaid = { reason_code: null, reason_message: null, until: null }
  return decision ? [...earlier, { ...unsaid, ...decision, ...decided }].slice(-mostDecisions) : earlier
}

const decisionBy = (
  event: ApplicationStreamEvent,
): (Pick<DecisionOnRecord, 'outcome' | 'cause'> & Partial<DecisionOnRecord>) | undefined => {
  if (
    event.type === 'ApplicationReferred' ||
    event.type === 'ApplicationDeclined' ||
    event.type === 'ApplicationPostponed'
  ) {
    const { cause, reason_code, reason_message } = event
    const until = event.type === 'ApplicationPostponed' ? event.until : null
    return { outcome: outcomes[event.type], cause, reason_code, reason_message, until }
  }
  if (event.type === 'ApplicationAccepted')
    return { outcome: 'accepted', cause: 'team', reason_message: event.reason_message }
  if (event.type === 'ApplicationGivenBack')
    return { outcome: 'given_back', cause: 'team', reason_message: event.reason_message }
  if (event.type === 'ApplicationReopened') {
    const cause = event.from === 'postponed' ? 'team' : 'customer'
    return { outcome: 'reopened', cause, reason_message: event.reason_message }
  }
  return event.type === 'ApplicationAbandoned'
    ? { outcome: 'abandoned', cause: abandonedBy[event.reason], reason_code: event.reason }
    : undefined
}

const outcomes = {
  ApplicationReferred: 'referred',
  ApplicationDeclined: 'declined',
  ApplicationPostponed: 'postponed',
} as const

const abandonedBy = { superseded_by_retry: 'customer', inactive: 'time', withdrawn: 'team' } as const

type Placed = Pick<ApplicationRecord, 'journey_id' | 'presentation_id'>

/** The journey of an application, in the release that it was started with. */
export const journeyOfApplication = (release: Release, { journey_id }: Placed): ReleaseJourney => {
  const journey = release.journeys.find(({ id }) => id === journey_id)
  if (!journey) throw new Error(`Release ${release.id} has no journey ${journey_id}.`)
  return journey
}

export const presentationOfApplication = (release: Release, placed: Placed): Presentation | null =>
  journeyOfApplication(release, placed).presentations.find(({ id }) => id === placed.presentation_id) ?? null

/** The presentation of an application as it is shown. */
export const shownPresentation = (release: Release, placed: Placed): Presentation | null => {
  const presentation = presentationOfApplication(release, placed)
  return presentation && presentationRecord(presentation, { release, journey: journeyOfApplication(release, placed) })
}

/** The application as callers see it, without its share token. `presentation` is that of the release it was started with. */
export const renderApplication = (
  record: ApplicationRecord,
  presentation: Presentation | null,
): Omit<Application, 'share_token'> => ({
  id: record.id,
  display_id: `app_${record.id}`,
  status: record.status,
  idempotency_key: record.idempotency_key,
  product_id: record.product_id,
  journey_id: record.journey_id,
  customer: record.customer,
  joint_customer: record.joint_customer,
  risk_factors: record.risk_factors,
  cover_amount_pence: record.cover_amount_pence,
  term_years: record.term_years,
  policy_id: record.policy_id,
  abandoned_reason: record.abandoned_reason,
  presentation,
  inline_bacs_mandate: record.inline_bacs_mandate,
  direct_debit_first: record.direct_debit_first,
  stripe_test_mode: record.stripe_test_mode,
  market_quotes: record.market_quotes,
  marketing_answered: record.marketing_answered,
  created_at: record.created_at,
  updated_at: record.updated_at,
})
