import type { Capability } from '../capability.ts'
import { integrationsFold } from '#domain/custom-integrations/record.ts'
import { inboundWebhook } from './inbound-webhook.ts'
import { customIntegrationRoutes } from './routes.ts'

export const customIntegrations: Capability = {
  routes: customIntegrationRoutes,
  ownForms: (side) => [
    inboundWebhook({
      ...side,
      digest: side.dataKeys.digest,
      limits: side.inboundLimits('inbound_url'),
      requireCurrent: (organisation_id) => side.folds.requireCurrent(integrationsFold.name, organisation_id),
    }),
  ],
}
