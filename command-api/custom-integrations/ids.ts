import { CustomIntegrationId, IntegrationConnectionId } from '#domain/custom-integrations/events.ts'
import type { OrganisationId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'

/** Integrations are known by their names within the organisation, and connections by theirs within the integration. */
export const customIntegrationIdOf = (organisation_id: OrganisationId, name: string): CustomIntegrationId =>
  CustomIntegrationId.parse(derivedId('custom_integration', organisation_id, name))

export const integrationConnectionIdOf = (
  organisation_id: OrganisationId,
  integration: CustomIntegrationId,
  name: string,
): IntegrationConnectionId =>
  IntegrationConnectionId.parse(derivedId('integration_connection', organisation_id, integration, name))

/** A connection as a workflow names it: `Mailing list/main`, or the integration alone for its connection `main`. */
export const namedConnectionIdOf = (organisation_id: OrganisationId, named: string): IntegrationConnectionId => {
  const [integration = '', connection = 'main'] = named.split('/').map((part) => part.trim())
  return integrationConnectionIdOf(organisation_id, customIntegrationIdOf(organisation_id, integration), connection)
}
