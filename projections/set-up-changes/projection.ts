import { apiApplicationEvents, organisationEvents } from '#domain/access/events.ts'
import { campaignEvents, leadIntakeEvents } from '#domain/campaigns/events.ts'
import { productEvents } from '#domain/catalogue/events.ts'
import { customIntegrationEvents, integrationConnectionEvents } from '#domain/custom-integrations/events.ts'
import { deliveryRecoveryEvents, deliverySettingsEvents } from '#domain/deliveries/events.ts'
import { categoryOf, idOf, type EventOf, type Json, type Metadata, type RecordedEvent } from '#domain/event.ts'
import { endpointConnectionEvents } from '#domain/integrations/events.ts'
import { programmeEvents } from '#domain/loyalty/events.ts'
import { outcomeModelEvents } from '#domain/outcomes/events.ts'
import { outreachEvents, outreachSettingsEvents } from '#domain/outreach/events.ts'
import { paymentAccountEvents } from '#domain/payment-accounts/events.ts'
import { pipelineEvents } from '#domain/pipeline/events.ts'
import { policyRulesEvents } from '#domain/policy-rules/events.ts'
import { providerAccountEvents } from '#domain/provider-accounts/events.ts'
import { rateTableEvents } from '#domain/rating/events.ts'
import { lifecycleActionEvents, workflowEvents } from '#domain/workflows/events.ts'
import { documentProjection, happenedAt } from '../document-projection.ts'

const events = {
  ...organisationEvents,
  ...apiApplicationEvents,
  ...productEvents,
  ...rateTableEvents,
  ...campaignEvents,
  ...leadIntakeEvents,
  ...customIntegrationEvents,
  ...integrationConnectionEvents,
  ...deliveryRecoveryEvents,
  ...deliverySettingsEvents,
  ...endpointConnectionEvents,
  ...programmeEvents,
  ...outcomeModelEvents,
  ...outreachEvents,
  ...outreachSettingsEvents,
  ...paymentAccountEvents,
  ...pipelineEvents,
  ...policyRulesEvents,
  ...providerAccountEvents,
  ...lifecycleActionEvents,
  ...workflowEvents,
}

type Change = {
  readonly type: string
  readonly record_type: string
  readonly record_id: string
  /** The name of a program's key. */
  readonly operator: string | null
  /** The person whose key it was. */
  readonly user_id: string | null
  readonly correlation_id: string
  readonly names: Readonly<Record<string, string | number>>
}

const changeBy = (
  _before: unknown,
  { type, ...data }: EventOf<typeof events>,
  { actor, correlation_id }: Metadata,
  { stream }: RecordedEvent,
): Change => ({
  type,
  record_type: categoryOf(stream),
  record_id: idOf(stream),
  operator: actor.type === 'operator' ? actor.id : null,
  user_id: actor.type === 'user' ? actor.id : null,
  correlation_id,
  names: namesIn(data),
})

const isTeams = ({ actor }: Metadata): boolean => actor.type === 'operator' || actor.type === 'user'

/** Every change of an organisation's set-up that somebody of the team has made: what, when, and who or with which key. */
export const setUpChanges = documentProjection({
  name: 'set_up_changes',
  version: 2,
  categories: [
    'organisation',
    'api_application',
    'product',
    'rate_table',
    'campaign',
    'lead_intake',
    'custom_integration',
    'integration_connection',
    'delivery_recovery',
    'delivery_settings',
    'endpoint_connection',
    'programme',
    'outcome_model',
    'outreach',
    'outreach_settings',
    'payment_account',
    'pipeline',
    'policy_rules',
    'provider_account',
    'lifecycle_action',
    'workflow',
  ],
  events,
  awaited: 'never',
  // What a timer or a worker does by itself is no change of the team's.
  keys: (_event, { id, metadata }) => (isTeams(metadata) ? [{ id }] : []),
  evolve: changeBy,
  columns: {
    record_id: 'uuid',
    operator: 'text',
    user_id: 'uuid',
    changed_at: happenedAt,
    document: 'json',
  },
  indexes: [
    'organisation_id, changed_at, id',
    'organisation_id, record_id, changed_at, id',
    'organisation_id, operator, changed_at, id',
    'organisation_id, user_id, changed_at, id',
  ],
})

/** The whole of what was changed has an address of its own, and may hold secrets; here is only what it is called. */
const naming = ['slug', 'key', 'name', 'version', 'number', 'lifecycle_state', 'provider', 'mode', 'base_url']

const namesIn = (data: Json): Change['names'] => {
  const inside = [data, data['draft'], data['release'], data['table']].filter((part) => part !== undefined)
  const found = inside.flatMap((part) => Object.entries(part as Json).filter(([name]) => naming.includes(name)))
  return Object.fromEntries(
    found.flatMap(([name, value]) => (typeof value === 'string' || typeof value === 'number' ? [[name, value]] : [])),
  )
}
