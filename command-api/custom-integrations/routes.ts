import { z } from 'zod'
import { customIntegration } from '#domain/custom-integrations/custom-integration.ts'
import { CustomIntegrationId, IntegrationConnectionId } from '#domain/custom-integrations/events.ts'
import {
  integrationConnection,
  type IntegrationConnectionCommand,
} from '#domain/custom-integrations/integration-connection.ts'
import {
  CustomIntegration,
  IntegrationConnection,
  shownConnection,
  type SealedConnection,
} from '#domain/custom-integrations/record.ts'
import { OrganisationId } from '#domain/values.ts'
import { notFound } from '#domain/rejection.ts'
import { impersonalRoute, route, type RequestFacts, type Route } from '#infra/http/route.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import { teamContext } from '../operator.ts'
import { declaredSettings, GivenSecrets, IntegrationName, settingsOf } from './declared.ts'
import { customIntegrationIdOf, integrationConnectionIdOf } from './ids.ts'
import { outboundFaults } from './outbound-faults.ts'
import { chosenSecrets, refuseShortSigningSecret, sealSecrets, type SealingKeys } from './secrets.ts'

type Deps = {
  readonly writer: Writer
  readonly keys: SealingKeys
  /** True where the operator's configuration permits plain http to an address. */
  readonly allowsHttp: (address: string) => boolean
  readonly baseUrl: string
}

const organisation = '/admin/v1/organisations/:organisation_id'
const OrganisationPath = z.object({ organisation_id: OrganisationId })
const IntegrationPath = OrganisationPath.extend({ custom_integration_id: CustomIntegrationId })
const ConnectionPath = OrganisationPath.extend({ integration_connection_id: IntegrationConnectionId })

const OneIntegration = z.object({ data: CustomIntegration })
const OneConnection = z.object({ data: IntegrationConnection })
const OneWithSecrets = z.object({
  data: IntegrationConnection.extend({
    generated_secrets: z.record(z.string(), z.string()).describe('Those that were made: shown now and never again.'),
  }).meta({ id: 'IntegrationConnectionWithSecrets' }),
})

const noIntegration = () => notFound('custom integration')
const noConnection = () => notFound('connection')

/** The operator's routes for firms' systems that post to us, and that we call. */
export const customIntegrationRoutes = ({ writer, keys, allowsHttp, baseUrl }: Deps): Route[] => {
  const integrations = commandHandler(writer, customIntegration)
  const connections = commandHandler(writer, integrationConnection)

  const integrationOf = async (organisation_id: OrganisationId, id: string): Promise<CustomIntegration> => {
    const known = await integrations.load(id)
    if (known?.organisation_id !== organisation_id) throw noIntegration()
    return known
  }

  const connectionOf = async (organisation_id: OrganisationId, id: string): Promise<SealedConnection> => {
    const known = await connections.load(id)
    if (known?.organisation_id !== organisation_id) throw noConnection()
    return known
  }

  const shown = async (connection: SealedConnection): Promise<IntegrationConnection> =>
    shownConnection(
      connection,
      await integrationOf(connection.organisation_id, connection.custom_integration_id),
      baseUrl,
    )

  const change = async (
    { organisation_id, integration_connection_id: id }: z.output<typeof ConnectionPath>,
    command: IntegrationConnectionCommand,
    facts: RequestFacts,
  ): Promise<SealedConnection> => {
    const known = await connectionOf(organisation_id, id)
    const { state } = await connections.handle(id, command, teamContext(organisation_id, facts))
    return state ?? known
  }

  return [
    route(
      {
        ...impersonalRoute('owner'),
        method: 'post',
        address: `${organisation}/custom_integrations`,
        summary: 'Define a custom integration, inbound or outbound: which of the two can never be changed',
        path: OrganisationPath,
        body: z
          .object({ name: IntegrationName, ...declaredSettings })
          .meta({ oneOf: [{ required: ['inbound'] }, { required: ['outbound'] }] }),
        errors: ['conflict'],
        answers: { 201: OneIntegration },
      },
      async ({ path: { organisation_id }, body, ...facts }) => {
        const custom_integration_id = customIntegrationIdOf(organisation_id, body.name)
        const settings = settingsOf(body)
        const { state } = await integrations.handle(
          custom_integration_id,
          {
            type: 'CreateCustomIntegration',
            custom_integration_id,
            organisation_id,
            name: body.name,
            faults: outboundFaults(settings.outbound, allowsHttp),
            ...settings,
          },
          teamContext(organisation_id, facts),
        )
        if (!state) throw noIntegration()
        return { status: 201, body: { data: state } }
      },
    ),
    route(
      {
        ...impersonalRoute('owner'),
        method: 'put',
        address: `${organisation}/custom_integrations/:custom_integration_id`,
        summary: 'Replace the settings of a custom integration; they count for what is received or sent from now on',
        path: IntegrationPath,
        body: z.object(declaredSettings),
        answers: { 200: OneIntegration },
      },
      async ({ path: { organisation_id, custom_integration_id: id }, body, ...facts }) => {
        const known = await integrationOf(organisation_id, id)
        const settings = settingsOf(body)
        const faults = outboundFaults(settings.outbound, allowsHttp)
        const command = { type: 'ChangeCustomIntegration', faults, ...settings } as const
        const { state } = await integrations.handle(id, command, teamContext(organisation_id, facts))
        return { status: 200, body: { data: state ?? known } }
      },
    ),
    route(
      {
        ...impersonalRoute('owner'),
        method: 'post',
        address: `${organisation}/custom_integrations/:custom_integration_id/connections`,
        summary: 'Connect a custom integration. Secrets that are made are shown once, in this answer',
        path: IntegrationPath,
        body: z.object({ name: IntegrationName, secrets: GivenSecrets.default({}) }),
        errors: ['conflict'],
        answers: { 201: OneWithSecrets },
      },
      async ({ path: { organisation_id, custom_integration_id }, body: { name, secrets: given }, ...facts }) => {
        refuseShortSigningSecret(given, await integrationOf(organisation_id, custom_integration_id))
        const id = integrationConnectionIdOf(organisation_id, custom_integration_id, name)
        const { secrets, generated: generated_secrets } = chosenSecrets(given)
        const { state } = await connections.handle(
          id,
          {
            type: 'CreateIntegrationConnection',
            integration_connection_id: id,
            custom_integration_id,
            organisation_id,
            name,
            sealed_secrets: sealSecrets(keys, secrets, organisation_id, id),
          },
          teamContext(organisation_id, facts),
        )
        if (!state) throw noConnection()
        return { status: 201, body: { data: { ...(await shown(state)), generated_secrets } } }
      },
    ),
    route(
      {
        ...impersonalRoute('owner'),
        method: 'post',
        address: `${organisation}/integration_connections/:integration_connection_id/secrets`,
        summary: 'Set or replace secrets of a connection. Those that are made are shown once, in this answer',
        path: ConnectionPath,
        body: z.object({ secrets: GivenSecrets }),
        errors: ['conflict'],
        answers: { 200: OneWithSecrets },
      },
      async ({ path, body: { secrets: given }, ...facts }) => {
        const { organisation_id, integration_connection_id: id } = path
        const { custom_integration_id } = await connectionOf(organisation_id, id)
        refuseShortSigningSecret(given, await integrationOf(organisation_id, custom_integration_id))
        const { secrets, generated: generated_secrets } = chosenSecrets(given)
        const sealed_secrets = sealSecrets(keys, secrets, organisation_id, id)
        const changed = await change(path, { type: 'SetIntegrationSecrets', sealed_secrets }, facts)
        return { status: 200, body: { data: { ...(await shown(changed)), generated_secrets } } }
      },
    ),
    route(
      {
        ...impersonalRoute('owner'),
        method: 'post',
        address: `${organisation}/integration_connections/:integration_connection_id/revoke`,
        summary: 'Revoke a connection for ever: nothing is taken in or sent over it, and its secrets are of no use',
        path: ConnectionPath,
        body: z.object({}),
        answers: { 200: OneConnection },
      },
      async ({ path, ...facts }) => {
        const revoked = await change(path, { type: 'RevokeIntegrationConnection' }, facts)
        return { status: 200, body: { data: await shown(revoked) } }
      },
    ),
  ]
}
