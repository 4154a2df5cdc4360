import { applicationEvents } from '#domain/applications/events.ts'
import { claimEvents } from '#domain/claims/events.ts'
import { marketQuoteEvents } from '#domain/market-quotes/events.ts'
import { paymentEvents } from '#domain/payments/events.ts'
import { policyEvents } from '#domain/policies/events.ts'
import { premiumEvents } from '#domain/premiums/events.ts'
import { quoteEvents } from '#domain/quotes/events.ts'
import { OrganisationId } from '#domain/values.ts'
import type { LifecycleEventType } from '#domain/workflows/events.ts'
import type { Workflow } from '#domain/workflows/record.ts'
import type { LifecyclePerson } from '../lifecycle-people.ts'
import type { Reaction } from '../reaction.ts'
import type { OutreachPeople } from './people.ts'
import type { LiveOutreach } from './streams.ts'
import { eachOnce, streamsThatWorkflowsName } from './workflow-streams.ts'

const { ApplicationStarted, CustomerSaved, ApplicationReferred, ApplicationDeclined } = applicationEvents
const { ApplicationPostponed, ApplicationAbandoned, ApplicationAccepted, ApplicationGivenBack } = applicationEvents
const { ApplicationReopened, ApplicationBound } = applicationEvents
const { MarketSearchCompleted, MarketSearchFailed, ApplicationHandedOff } = marketQuoteEvents
const { MandateCreated, MandateActivated, MandateFailed, MandateCancelled } = paymentEvents
const { PolicyBound, PolicyDocumentIssued, PolicyActivated, PolicyCancelled, PolicyExpired } = policyEvents
const { PolicyMandateRefused, PolicyUpdated, PolicySuspended, PolicyReinstated, PolicyLapsed } = policyEvents
const { PolicyAmended, PolicyIndexed, PolicyReviewed } = policyEvents
const { PremiumDue, PremiumCollected, PremiumFailed, PremiumRetried, PremiumRefunded } = premiumEvents
const { PremiumWrittenOff } = premiumEvents

const followed = {
  ApplicationStarted,
  CustomerSaved,
  ApplicationReferred,
  ApplicationDeclined,
  ApplicationPostponed,
  ApplicationAbandoned,
  ApplicationAccepted,
  ApplicationGivenBack,
  ApplicationReopened,
  ApplicationBound,
  MarketSearchCompleted,
  MarketSearchFailed,
  ApplicationHandedOff,
  ...quoteEvents,
  MandateCreated,
  MandateActivated,
  MandateFailed,
  MandateCancelled,
  PolicyBound,
  PolicyDocumentIssued,
  PolicyActivated,
  PolicyCancelled,
  PolicyExpired,
  PolicyMandateRefused,
  PolicyUpdated,
  PolicySuspended,
  PolicyReinstated,
  PolicyLapsed,
  PolicyAmended,
  PolicyIndexed,
  PolicyReviewed,
  PremiumDue,
  PremiumCollected,
  PremiumFailed,
  PremiumRetried,
  PremiumRefunded,
  PremiumWrittenOff,
  ...claimEvents,
}

/** The published name of each: those that webhooks are sent with. */
export const lifecycleTriggers: Readonly<Record<keyof typeof followed, LifecycleEventType>> = {
  ApplicationStarted: 'application.started',
  CustomerSaved: 'application.customer_saved',
  ApplicationReferred: 'application.referred',
  ApplicationDeclined: 'application.declined',
  ApplicationPostponed: 'application.postponed',
  ApplicationAbandoned: 'application.abandoned',
  ApplicationAccepted: 'application.reopened',
  ApplicationGivenBack: 'application.reopened',
  ApplicationReopened: 'application.reopened',
  ApplicationBound: 'application.bound',
  MarketSearchCompleted: 'quote.market_completed',
  MarketSearchFailed: 'quote.market_failed',
  ApplicationHandedOff: 'application.handed_off',
  QuoteIssued: 'quote.issued',
  QuoteReplaced: 'quote.replaced',
  QuoteAccepted: 'quote.accepted',
  QuoteAcceptanceVoided: 'quote.acceptance_voided',
  QuoteRejected: 'quote.rejected',
  QuoteExpired: 'quote.expired',
  QuoteBought: 'quote.bought',
  MandateCreated: 'mandate.created',
  MandateActivated: 'mandate.activated',
  MandateFailed: 'mandate.failed',
  MandateCancelled: 'mandate.cancelled',
  PolicyBound: 'policy.bound',
  PolicyDocumentIssued: 'policy.document_issued',
  PolicyActivated: 'policy.activated',
  PolicyCancelled: 'policy.cancelled',
  PolicyExpired: 'policy.expired',
  PolicyMandateRefused: 'mandate.failed',
  PolicyUpdated: 'policy.updated',
  PolicySuspended: 'policy.suspended',
  PolicyReinstated: 'policy.reinstated',
  PolicyLapsed: 'policy.lapsed',
  PolicyAmended: 'policy.amended',
  PolicyIndexed: 'policy.indexed',
  PolicyReviewed: 'policy.reviewed',
  PremiumDue: 'premium.due',
  PremiumCollected: 'premium.collected',
  PremiumFailed: 'premium.failed',
  PremiumRetried: 'premium.retried',
  PremiumRefunded: 'premium.refunded',
  PremiumWrittenOff: 'premium.written_off',
  ClaimOpened: 'claim.opened',
  ClaimEvidenceRequested: 'claim.evidence_requested',
  ClaimApproved: 'claim.approved',
  ClaimDeclined: 'claim.declined',
  ClaimPaid: 'claim.paid',
  ClaimClosed: 'claim.closed',
  ClaimReopened: 'claim.reopened',
}

type Deps = {
  readonly people: Pick<OutreachPeople, 'joinSeveral'>
  readonly live: LiveOutreach
  readonly workflows: ReadonlyMap<string, Workflow>
  readonly personOf: LifecyclePerson
}

/**
 * The person of an application or a policy joins outreach streams as workflows say, where that person is a lead. A person is
 * in a stream once, so that a repeated event changes nothing.
 */
export const whenLifecycleHappenedJoinStreams = ({
  people,
  live,
  workflows,
  personOf,
}: Deps): Reaction<typeof followed> => ({
  name: 'when-lifecycle-happened-join-streams',
  categories: ['application', 'policy'],
  events: followed,
  target: (_event, { stream }) => stream,
  react: async (event, recorded, { cause: _cause, ...context }) => {
    const organisation_id = OrganisationId.parse(context.organisation_id)
    if (!live.settings.get(organisation_id)?.is_on) return
    const asking = [...workflows.values()].filter(
      ({ organisation_id: its, trigger, state, created_at }) =>
        its === organisation_id &&
        state === 'active' &&
        trigger.event_type === lifecycleTriggers[event.type] &&
        // What happened before a workflow was set up is none of its business, also when events are followed anew.
        created_at <= context.now,
    )
    if (asking.length === 0) return
    const person = await personOf(recorded)
    if (!person) return
    const ofProduct = asking.filter(
      ({ trigger: { product_id } }) => product_id === null || product_id === person.product_id,
    )
    const joining = eachOnce(streamsThatWorkflowsName(live, ofProduct))
    await people.joinSeveral(organisation_id, person.contact_id, joining, context)
  },
})
