import type { Capabilities } from './capability.ts'
import { customIntegrations, integrationConnections } from './custom-integrations/connections.ts'
import { leads } from './leads/leads.ts'
import { lifecycleActions } from './lifecycle/actions.ts'
import { applications } from './lifecycle/applications.ts'
import { complaints } from './lifecycle/complaints.ts'
import { mandates } from './lifecycle/mandates.ts'
import { policies } from './lifecycle/policies.ts'
import { quotes } from './lifecycle/quotes.ts'
import { webhooks } from './lifecycle/webhooks.ts'
import { endpointConnections } from './webhooks/endpoint-connections.ts'
import { workflows } from './workflows/workflows.ts'

/** The subjects of lifecycle webhooks, and of their feed. */
export const lifecycleSubjects: Capabilities['subjects'] = [
  applications,
  mandates,
  quotes,
  policies,
  complaints,
  webhooks,
]

/** The table of contents: nothing else in this process knows what is sent. */
export const capabilities: Capabilities = {
  subjects: [...lifecycleSubjects, leads],
  actions: [lifecycleActions, workflows],
  connections: [customIntegrations, endpointConnections, integrationConnections],
}
