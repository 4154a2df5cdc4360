import { legalHoldEvents } from './legal-holds/events.ts'
import { apiApplicationEvents, organisationEvents } from './access/events.ts'
import { applicationEvents } from './applications/events.ts'
import { memberReferenceEvents, membershipEvents, programmeEvents } from './loyalty/events.ts'
import { fourEyesEvents, proposalEvents } from './approvals/events.ts'
import { campaignEvents, leadIntakeEvents } from './campaigns/events.ts'
import { complaintEvents } from './complaints/events.ts'
import { productEvents } from './catalogue/events.ts'
import { checkoutEvents } from './checkout/events.ts'
import {
  customIntegrationEvents,
  inboundEventEvents,
  integrationConnectionEvents,
} from './custom-integrations/events.ts'
import { customerEvents, identityEvents } from './customers/events.ts'
import {
  deliveryOutcomeEvents,
  deliveryPingEvents,
  deliveryRecoveryEvents,
  deliverySettingsEvents,
} from './deliveries/events.ts'
import { erasureEvents } from './erasures/events.ts'
import type { EventShapes } from './event.ts'
import { ingestEvents } from './ingests/events.ts'
import { installationEvents } from './installation/events.ts'
import { endpointConnectionEvents } from './integrations/events.ts'
import { paymentAccountEvents } from './payment-accounts/events.ts'
import { messageNewsEvents } from './message-news/events.ts'
import { paymentNewsEvents } from './payment-news/events.ts'
import { paymentEvents, paymentStreamEvents } from './payments/events.ts'
import { operatorKeyEvents } from './operator-keys/events.ts'
import { leadEvents } from './leads/events.ts'
import { outcomeEvents, outcomeModelEvents, outcomeReportEvents } from './outcomes/events.ts'
import { outreachEvents, outreachPersonEvents, outreachSettingsEvents } from './outreach/events.ts'
import { pipelineEvents } from './pipeline/events.ts'
import { providerAccountEvents } from './provider-accounts/events.ts'
import { claimEvents } from './claims/events.ts'
import { premiumEvents } from './premiums/events.ts'
import { policyEvents, policyNumberEvents } from './policies/events.ts'
import { policyRulesEvents } from './policy-rules/events.ts'
import { marketQuoteEvents } from './market-quotes/events.ts'
import { quoteEvents } from './quotes/events.ts'
import { recordErasureEvents, retentionEvents } from './retention/events.ts'
import { signInProviderEvents } from './sign-in/events.ts'
import { userEvents } from './users/events.ts'
import { rateTableEvents } from './rating/events.ts'
import { lifecycleActionEvents, workflowEvents } from './workflows/events.ts'

/** The shape of every event that is stored, by its type. A shape that is missing here fails a test. */
export const storedEvents: EventShapes = {
  ...apiApplicationEvents,
  ...applicationEvents,
  ...campaignEvents,
  ...programmeEvents,
  ...membershipEvents,
  ...memberReferenceEvents,
  ...checkoutEvents,
  ...customIntegrationEvents,
  ...customerEvents,
  ...deliveryOutcomeEvents,
  ...deliveryPingEvents,
  ...deliveryRecoveryEvents,
  ...deliverySettingsEvents,
  ...endpointConnectionEvents,
  ...erasureEvents,
  ...fourEyesEvents,
  ...identityEvents,
  ...inboundEventEvents,
  ...ingestEvents,
  ...installationEvents,
  ...leadIntakeEvents,
  ...leadEvents,
  ...legalHoldEvents,
  ...integrationConnectionEvents,
  ...lifecycleActionEvents,
  ...operatorKeyEvents,
  ...organisationEvents,
  ...paymentAccountEvents,
  ...messageNewsEvents,
  ...paymentNewsEvents,
  ...paymentEvents,
  ...paymentStreamEvents,
  ...outcomeEvents,
  ...outcomeModelEvents,
  ...outcomeReportEvents,
  ...outreachEvents,
  ...outreachPersonEvents,
  ...outreachSettingsEvents,
  ...pipelineEvents,
  ...policyEvents,
  ...policyNumberEvents,
  ...premiumEvents,
  ...claimEvents,
  ...complaintEvents,
  ...policyRulesEvents,
  ...productEvents,
  ...proposalEvents,
  ...providerAccountEvents,
  ...marketQuoteEvents,
  ...quoteEvents,
  ...rateTableEvents,
  ...recordErasureEvents,
  ...retentionEvents,
  ...signInProviderEvents,
  ...userEvents,
  ...workflowEvents,
}
