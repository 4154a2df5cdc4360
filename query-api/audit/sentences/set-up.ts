import type { userEvents } from '#domain/users/events.ts'
import type { apiApplicationEvents, organisationEvents } from '#domain/access/events.ts'
import type { fourEyesEvents, proposalEvents } from '#domain/approvals/events.ts'
import type { campaignEvents, leadIntakeEvents } from '#domain/campaigns/events.ts'
import type { productEvents } from '#domain/catalogue/events.ts'
import type {
  customIntegrationEvents,
  inboundEventEvents,
  integrationConnectionEvents,
} from '#domain/custom-integrations/events.ts'
import type {
  deliveryOutcomeEvents,
  deliveryPingEvents,
  deliveryRecoveryEvents,
  deliverySettingsEvents,
} from '#domain/deliveries/events.ts'
import type { installationEvents } from '#domain/installation/events.ts'
import type { endpointConnectionEvents } from '#domain/integrations/events.ts'
import type { operatorKeyEvents } from '#domain/operator-keys/events.ts'
import type { outcomeModelEvents } from '#domain/outcomes/events.ts'
import type { outreachEvents, outreachSettingsEvents } from '#domain/outreach/events.ts'
import type { paymentAccountEvents } from '#domain/payment-accounts/events.ts'
import type { paymentNewsEvents } from '#domain/payment-news/events.ts'
import type { pipelineEvents } from '#domain/pipeline/events.ts'
import type { policyRulesEvents } from '#domain/policy-rules/events.ts'
import type { providerAccountEvents } from '#domain/provider-accounts/events.ts'
import type { signInProviderEvents } from '#domain/sign-in/events.ts'
import type { rateTableEvents } from '#domain/rating/events.ts'
import type { lifecycleActionEvents, workflowEvents } from '#domain/workflows/events.ts'
import { words, type Sentences } from './sentence.ts'

export const organisationSentences: Sentences<typeof organisationEvents & typeof apiApplicationEvents> = {
  OrganisationRegistered: ({ slug }) => `The organisation ${slug} was registered.`,
  OrganisationChanged: () => 'The organisation was changed.',
  OrganisationActivated: () => 'The organisation was activated.',
  OrganisationDeactivated: () => 'The organisation was deactivated.',
  ApiApplicationCreated: ({ name }) => `The API application ${name} was created.`,
  ApiApplicationChanged: () => 'The API application was changed.',
  ApiApplicationSecretRotated: () => 'The API application was given a new secret.',
  ApiApplicationDeleted: () => 'The API application was deleted.',
}

export const catalogueSentences: Sentences<typeof productEvents & typeof rateTableEvents> = {
  ProductDrafted: () => 'A draft of the product was saved.',
  ReleasePublished: ({ release }) => `Release ${release.number} of the product was published.`,
  ProductLifecycleChanged: ({ lifecycle_state }) => `The product is in ${words(lifecycle_state)} now.`,
  RateTablePublished: ({ table }) => `Version ${table.version} of the rate table ${table.key} was published.`,
}

export const firmSentences: Sentences<
  typeof campaignEvents &
    typeof leadIntakeEvents &
    typeof outcomeModelEvents &
    typeof pipelineEvents &
    typeof policyRulesEvents &
    typeof paymentAccountEvents &
    typeof providerAccountEvents &
    typeof signInProviderEvents &
    typeof paymentNewsEvents
> = {
  CampaignCreated: ({ key }) => `The campaign ${key} was created.`,
  CampaignChanged: () => 'The campaign was changed.',
  LeadIntakeSet: () => 'The rules for all leads were set.',
  OutcomeModelDeclared: () => 'The outcome model was declared.',
  PipelineDeclared: () => 'The pipeline was declared.',
  PolicyRulesDeclared: () => 'The rules for policies were declared.',
  PaymentAccountSet: ({ mode }) => `The ${mode} account with the payment provider was set.`,
  PaymentAccountRemoved: ({ mode }) => `The ${mode} account with the payment provider was removed.`,
  ProviderAccountSet: ({ provider }) => `The account with ${words(provider)} was set.`,
  ProviderAccountRemoved: ({ provider }) => `The account with ${words(provider)} was removed.`,
  SignInProviderSet: ({ name, issuer }) => `The sign-in provider ${name} was set, at ${issuer}.`,
  SignInProviderRemoved: () => 'The sign-in provider was removed.',
  PaymentNewsReceived: ({ kind }) => `The payment provider reported: ${words(kind)}.`,
}

export const connectionSentences: Sentences<
  typeof customIntegrationEvents &
    typeof integrationConnectionEvents &
    typeof inboundEventEvents &
    typeof endpointConnectionEvents &
    typeof lifecycleActionEvents &
    typeof workflowEvents
> = {
  CustomIntegrationCreated: ({ name }) => `The custom integration ${name} was created.`,
  CustomIntegrationChanged: () => 'The custom integration was changed.',
  IntegrationConnectionCreated: ({ name }) => `The connection ${name} of a custom integration was created.`,
  IntegrationSecretSet: ({ name }) => `The secret ${name} of the connection was set.`,
  IntegrationConnectionRevoked: ({ name }) => `The connection ${name} was revoked.`,
  InboundEventAccepted: () => 'An event of another system was accepted.',
  EndpointConnectionCreated: ({ name }) => `The connection ${name} to an endpoint was created.`,
  EndpointConnectionMoved: () => 'The connection was moved to another address.',
  EndpointSecretRegenerated: () => 'The connection was given a new signing secret.',
  EndpointConnectionRemoved: ({ name }) => `The connection ${name} was removed.`,
  LifecycleActionCreated: ({ name }) => `The lifecycle action ${name} was created.`,
  LifecycleActionChanged: () => 'The lifecycle action was changed.',
  LifecycleActionRemoved: ({ name }) => `The lifecycle action ${name} was removed.`,
  WorkflowCreated: ({ name }) => `The workflow ${name} was created.`,
  WorkflowChanged: () => 'The workflow was changed.',
}

export const approvalSentences: Sentences<typeof proposalEvents & typeof fourEyesEvents> = {
  ProposalMade: ({ title }) => `Proposed to a second user: ${title}.`,
  ProposalApproved: () => 'The proposal was approved.',
  ProposalRejected: () => 'The proposal was rejected.',
  ProposalWithdrawn: () => 'The proposal was withdrawn.',
  ProposalVoided: ({ because }) => `The proposal is void: ${because}`,
  ProposalExpired: () => 'The proposal expired.',
  ProposalDone: () => 'What was proposed was done.',
  FourEyesSet: () => 'It was set for which acts a second user is asked for.',
}

export const deliverySentences: Sentences<
  typeof deliveryRecoveryEvents &
    typeof deliverySettingsEvents &
    typeof deliveryPingEvents &
    typeof deliveryOutcomeEvents
> = {
  DeliveryRecoveryRequested: () => 'Deliveries were asked to be sent again.',
  DeliverySettingsChanged: () => 'The settings of deliveries over the connection were changed.',
  ConnectionPinged: () => 'The connection was tried.',
  DeliveryFailed: () => 'A delivery failed for good.',
  ConnectionFailing: ({ failing_since }) => `The connection has been failing since ${failing_since}.`,
  ConnectionDisabled: () => 'The connection was switched off because it kept failing.',
}

export const installationSentences: Sentences<typeof installationEvents & typeof operatorKeyEvents> = {
  InstallationBegun: () => 'The installation began.',
  OperatorKeyMade: ({ name, scope }) => `The operator key ${name} was made (${words(scope)}).`,
  OperatorKeyEnded: ({ name }) => `The operator key ${name} was ended.`,
}

export const outreachSentences: Sentences<typeof outreachEvents & typeof outreachSettingsEvents> = {
  OutreachStreamCreated: ({ slug }) => `The outreach stream ${slug} was created.`,
  OutreachStreamChanged: () => 'The outreach stream was changed.',
  OutreachRemindersToMove: () => 'The reminders of the stream are to be moved.',
  OutreachRemindersMoved: () => 'The reminders of the stream were moved.',
  OutreachStreamStarted: () => 'The outreach stream was started.',
  OutreachStreamPaused: () => 'The outreach stream was paused.',
  OutreachStreamResumed: () => 'The outreach stream goes on.',
  OutreachStreamClosed: () => 'The outreach stream was closed to new people.',
  OutreachStreamReopened: () => 'The outreach stream was opened again.',
  OutreachStreamArchived: () => 'The outreach stream was archived.',
  OutreachWorkCancelled: () => 'What the outreach stream had still to do was cancelled.',
  OutreachSendsPermitted: ({ permits }) => `${permits.length} messages may be sent.`,
  OutreachDraftsReserved: ({ drafts }) => `The cost of ${drafts.length} drafts was reserved.`,
  OutreachDraftReleased: () => 'The cost that was reserved for a draft was released.',
  OutreachDraftCharged: () => 'The cost of a draft was charged.',
  OutreachBudgetExceeded: () => 'The budget of the outreach stream was exceeded.',
  NewsletterIssueReleased: ({ issue }) => `Issue ${issue} of the newsletter was released.`,
  NewsletterIssueSkipped: () => 'An issue of the newsletter was left out.',
  NewsletterIssueHandedOut: ({ issue }) => `Issue ${issue} of the newsletter was handed out.`,
  OutreachSwitched: ({ is_on }) => (is_on ? 'Outreach was switched on.' : 'Outreach was switched off.'),
  WriterPriced: () => 'The price of the writer was set.',
  ExchangeRateRecorded: ({ day }) => `The exchange rate of ${day} was recorded.`,
}

export const userSentences: Sentences<typeof userEvents> = {
  UserAdded: ({ roles }) => `A user was added with the roles ${roles.join(', ')}.`,
  UserChanged: ({ roles }) => `A user was changed; the roles are ${roles.join(', ')}.`,
  UserEnded: () => 'The user was ended, and all of the keys.',
  UserErased: () => 'The user was erased.',
  UserKeyMade: () => 'A key of the user was made.',
  UserInvited: ({ ends_at }) => `The user was invited to sign in by a provider, until ${ends_at}.`,
  UserLinked: ({ issuer, by_invitation }) =>
    `The user is known by an account at ${issuer}, ${by_invitation ? 'by invitation' : 'by a verified email'}.`,
  UserKeyEnded: ({ ends_at }) => `A key of the user ends at ${ends_at}.`,
}
