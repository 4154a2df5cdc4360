import { randomBytes } from 'node:crypto'
import { idOf, operatorAddress, demoOrganisation, type Callers, type Example, type Examples } from './requests.ts'

const inbound = { event_type_path: 'type', signing_secret: 'webhook_secret' }

/** Integrations of their own for the operator's operations, so that those of the demo stay as they are. */
export const prepareIntegrations = async ({ operator }: Callers): Promise<Examples> => {
  const added = randomBytes(4).toString('hex')
  const integration = idOf(
    await operator('POST', `${operatorAddress}/custom_integrations`, { name: `Explorer ${added}`, inbound }),
  )
  const connect = async (name: string): Promise<string> =>
    idOf(
      await operator('POST', `${operatorAddress}/custom_integrations/${integration}/connections`, {
        name,
        secrets: { webhook_secret: '' },
      }),
    )
  const [kept, toRevoke] = await Promise.all([connect('kept'), connect('to-revoke')])

  const inDemo = (path: Readonly<Record<string, string>> = {}, body?: object): Example => ({
    path: { organisation_id: demoOrganisation, ...path },
    ...(body && { body }),
  })
  return {
    getOrganisationCustomIntegrations: inDemo(),
    getOrganisationIntegrationConnections: inDemo(),
    getOrganisationIntegrationLogs: inDemo(),
    getOrganisationCustomIntegration: inDemo({ custom_integration_id: integration }),
    getOrganisationIntegrationConnection: inDemo({ integration_connection_id: kept }),
    postOrganisationCustomIntegrations: inDemo(
      {},
      {
        name: `CRM ${added}`,
        outbound: {
          base_url: 'https://crm.example.com/api',
          credential: { type: 'bearer', secret: 'token' },
          endpoints: [{ key: 'create', path: '/contacts', body_template: '{ "email": "{{ contact.email }}" }' }],
        },
      },
    ),
    putOrganisationCustomIntegration: inDemo(
      { custom_integration_id: integration },
      { inbound: { ...inbound, event_type_path: 'event.name' } },
    ),
    postOrganisationCustomIntegrationConnections: inDemo(
      { custom_integration_id: integration },
      { name: `connection-${added}`, secrets: { webhook_secret: '' } },
    ),
    postOrganisationIntegrationConnectionSecrets: inDemo(
      { integration_connection_id: kept },
      { secrets: { webhook_secret: '' } },
    ),
    postOrganisationIntegrationConnectionRevoke: inDemo({ integration_connection_id: toRevoke }, {}),
  }
}
