import type { Directory } from '#domain/access/record.ts'
import type { Integrations } from '#domain/custom-integrations/record.ts'
import type { PaymentAccounts } from '#domain/payment-accounts/record.ts'
import type { ProviderAccounts } from '#domain/provider-accounts/record.ts'
import type { Route } from '#infra/http/route.ts'
import type { Parts } from '#infra/parts.ts'
import { customIntegrationRoutes } from './custom-integrations/routes.ts'
import { deliveryOperatorRoutes } from './deliveries/routes.ts'
import type { LiveConnections } from './integrations/live-connections.ts'
import { endpointConnectionRoutes } from './integrations/routes.ts'
import type { Catalogue } from './catalogue/live-catalogue.ts'
import type { Leads } from './leads/live-leads.ts'
import { paymentAccountRoutes } from './payment-accounts/routes.ts'
import { providerAccountRoutes } from './provider-accounts/routes.ts'
import type { LiveActions } from './workflows/live-actions.ts'
import type { LiveWorkflows } from './workflows/live-workflows.ts'
import { lifecycleActionRoutes } from './workflows/routes.ts'
import { namedTargets } from './workflows/workflow-choices.ts'
import { workflowRoutes } from './workflows/workflow-routes.ts'
import type { Writer } from './writing/writer.ts'

type Deps = Pick<Parts, 'keys' | 'pool'> & {
  readonly writer: Writer
  readonly directory: Directory
  readonly catalogue: Catalogue
  readonly connections: LiveConnections
  readonly integrations: Integrations
  readonly accounts: ProviderAccounts
  readonly paymentAccounts: PaymentAccounts
  readonly actions: LiveActions
  readonly workflows: LiveWorkflows
  readonly leads: Leads
  readonly allowsHttp: (address: string) => boolean
  readonly baseUrl: string
}

/** What a firm is connected with, what is sent there: the way in of the operator. */
export const connectionRoutes = (deps: Deps): readonly Route[] => {
  const { writer, pool, catalogue, connections, integrations, actions, workflows, leads } = deps
  return [
    ...endpointConnectionRoutes(deps),
    ...customIntegrationRoutes(deps),
    ...providerAccountRoutes(deps),
    ...paymentAccountRoutes(deps),
    ...lifecycleActionRoutes({ writer, actions, catalogue }),
    ...workflowRoutes({ writer, workflows, targets: namedTargets(writer.log, catalogue), leads }),
    ...deliveryOperatorRoutes({ writer, pool, connections, integrations }),
  ]
}
