import { foldApiApplication, foldOrganisation } from '#domain/access/record.ts'
import { evolveRecord as evolveApplication, type ApplicationStreamEvent } from '#domain/applications/record.ts'
import { evolveCampaign } from '#domain/campaigns/record.ts'
import { claimEvents, type ClaimEvent } from '#domain/claims/events.ts'
import { evolveClaim, type Claim } from '#domain/claims/record.ts'
import { evolveComplaint } from '#domain/complaints/record.ts'
import { evolveCustomIntegration, evolveIntegrationConnection } from '#domain/custom-integrations/record.ts'
import { evolveCustomer } from '#domain/customers/record.ts'
import { evolveLegalHolds } from '#domain/legal-holds/record.ts'
import { evolveProposal } from '#domain/approvals/record.ts'
import { evolveRecordErasure } from '#domain/retention/record.ts'
import { evolveErasure } from '#domain/erasures/record.ts'
import type { Json, Metadata } from '#domain/event.ts'
import { evolveRecord as evolveIngest } from '#domain/ingests/record.ts'
import { evolveEndpointConnection } from '#domain/integrations/record.ts'
import { evolveLead } from '#domain/leads/record.ts'
import { evolveMembership, evolveProgramme } from '#domain/loyalty/record.ts'
import { evolveStream } from '#domain/outreach/record.ts'
import { paymentEvents, type PaymentEvent } from '#domain/payments/events.ts'
import { evolvePayments, noPayments, type Payments } from '#domain/payments/record.ts'
import { evolvePolicy, type PolicyRecord, type PolicyStreamEvent } from '#domain/policies/record.ts'
import { premiumEvents, type PremiumEvent } from '#domain/premiums/events.ts'
import { evolvePremium, type Premium } from '#domain/premiums/record.ts'
import { quoteEvents, type QuoteEvent } from '#domain/quotes/events.ts'
import { evolveQuote, type Quote } from '#domain/quotes/record.ts'
import { evolveLifecycleAction, evolveWorkflow } from '#domain/workflows/record.ts'

/** An event as it was read: its type and its data. */
export type Told = Json & { readonly type: string }

/** The record after an event. */
export type Fold = (state: Json, event: Told, metadata: Metadata) => Json

/**
 * The folds that the rest of the service uses: each is given the events of its own streams alone, and what it made of those before.
 * A record that is no more is shown as nothing.
 */
const of =
  <State, Event>(evolve: (state: State | undefined, event: Event, metadata: Metadata) => State | undefined): Fold =>
  (state, event, metadata) => {
    const before = Object.keys(state).length === 0 ? undefined : (state as State)
    return evolve(before, event as unknown as Event, metadata) ?? {}
  }

type Parts<Part> = Readonly<Record<string, Part>>

const changed = <Part>(parts: Parts<Part> | undefined, id: string, part: Part | undefined): Parts<Part> =>
  part ? { ...parts, [id]: part } : { ...parts }

type Sale = {
  readonly application: ReturnType<typeof evolveApplication>
  readonly quotes: Parts<Quote>
  readonly payments: Payments
}

/** An application with its quotes and payments, as they stand on its stream. */
const sale = (before: Sale | undefined, event: ApplicationStreamEvent, metadata: Metadata): Sale => {
  const { application, quotes = {}, payments = noPayments } = before ?? {}
  const quoted = event as QuoteEvent
  return {
    application: evolveApplication(application, event, metadata),
    quotes: Object.hasOwn(quoteEvents, event.type)
      ? changed(quotes, quoted.quote_id, evolveQuote(quotes[quoted.quote_id], quoted, metadata))
      : quotes,
    payments: Object.hasOwn(paymentEvents, event.type)
      ? evolvePayments(payments, event as PaymentEvent, metadata)
      : payments,
  }
}

type Servicing = {
  readonly policy: PolicyRecord | undefined
  readonly premiums: Parts<Premium>
  readonly claims: Parts<Claim>
}

/** A policy with its premiums and claims. */
const servicing = (before: Servicing | undefined, event: PolicyStreamEvent, metadata: Metadata): Servicing => {
  const { policy, premiums = {}, claims = {} } = before ?? {}
  const premium = event as PremiumEvent
  const claim = event as ClaimEvent
  return {
    policy: evolvePolicy(policy, event, metadata),
    premiums: Object.hasOwn(premiumEvents, event.type)
      ? changed(premiums, premium.premium_id, evolvePremium(premiums[premium.premium_id], premium, metadata))
      : premiums,
    claims: Object.hasOwn(claimEvents, event.type)
      ? changed(claims, claim.claim_id, evolveClaim(claims[claim.claim_id], claim, metadata))
      : claims,
  }
}

const folds: Readonly<Record<string, Fold>> = {
  api_application: of(foldApiApplication),
  application: of(sale),
  campaign: of(evolveCampaign),
  complaint: of(evolveComplaint),
  custom_integration: of(evolveCustomIntegration),
  customer: of(evolveCustomer),
  endpoint_connection: of(evolveEndpointConnection),
  erasure: of(evolveErasure),
  legal_hold: of(evolveLegalHolds),
  ingest: of(evolveIngest),
  integration_connection: of(evolveIntegrationConnection),
  lead: of(evolveLead),
  lifecycle_action: of(evolveLifecycleAction),
  membership: of(evolveMembership),
  organisation: of(foldOrganisation),
  outreach: of(evolveStream),
  policy: of(servicing),
  programme: of(evolveProgramme),
  record_erasure: of(evolveRecordErasure),
  proposal: of(evolveProposal),
  workflow: of(evolveWorkflow),
}

/** Of records that are what was said of them last. */
const saidLast: Fold = (state, { type: _type, ...said }) => ({ ...state, ...said })

export const foldOf = (category: string): Fold => folds[category] ?? saidLast
