import { vi } from 'vitest'
import type { IntegrationConnection } from '#domain/custom-integrations/record.ts'
import { wholeService } from '../whole-service.ts'
import { postBytes, sign } from './sender.ts'

export const secret = 'the-signing-secret-of-the-sender'

const file = (slug: string) => `organisations:
  - slug: ${slug}
    name: Northlight
    custom_integrations:
      - name: Policy system
        inbound:
          event_type_path: event.name
          signing_secret: webhook_secret
          outcome_event_types: [sale.made, sale.cancelled]
          outcome_mapping:
            lead: { id: lead.ours, email: lead.email, match_on_details: true }
            type_column: outcome
            occurred_at: at
            deal_ref: sale.ref
            reason: sale.reason
            event_id: id
            values: { premium: sale.premium }
          update_event_types: [policy.changed]
          policy_id_path: policy.ours
        connections:
          - name: main
            secrets: { webhook_secret: ${secret} }
          - name: without secret
          - name: to revoke
            secrets: { webhook_secret: ${secret} }
      - name: Signs elsewhere
        inbound:
          event_type_path: type
          signature_header: X-Crm-Signature
          signing_secret: webhook_secret
        connections:
          - name: own header
            secrets: { webhook_secret: ${secret} }
`

type Page<Row> = readonly Row[]

export type LogEntry = {
  readonly accepted: boolean
  readonly status: number
  readonly reason: string
  readonly event_type: string | null
  readonly subject_id: string | null
  readonly bytes: number | null
  readonly direction: string
  readonly count: number
}

/** The whole service with an integration that another system posts to. */
export const openInbound = async (environment: Readonly<Record<string, string>> = {}) => {
  const service = await wholeService(environment)
  await service.setUp(file('northlight'))
  const organisations = await service.send<readonly { id: string; slug: string }[]>('GET', '/admin/v1/organisations')
  const organisation_id = organisations.body.data.find(({ slug }) => slug === 'northlight')?.id ?? ''
  const own = `/admin/v1/organisations/${organisation_id}`
  const listed = await service.send<Page<IntegrationConnection>>('GET', `${own}/integration_connections`)
  const connectionNamed = (name: string): IntegrationConnection => {
    const found = listed.body.data.find((each) => each.name === name)
    if (!found) throw new Error(`There is no connection ${name}.`)
    return found
  }
  const urlOf = (connection_id: string) => `${service.origin}/api/v1/webhooks/integrations/custom_http/${connection_id}`
  const main = connectionNamed('main')

  return {
    ...service,
    organisation_id,
    own,
    main,
    connectionNamed,
    urlOf,
    /** Posts a signed event. */
    post: async (
      event: object | string | Buffer,
      {
        headers = {},
        connection = main.id,
        at = Date.now(),
      }: { headers?: Record<string, string>; connection?: string; at?: number } = {},
    ) => {
      const body = typeof event === 'string' || Buffer.isBuffer(event) ? event : JSON.stringify(event)
      return postBytes(urlOf(connection), body, { 'X-Integrations-Signature': sign(secret, body, at), ...headers })
    },
    logs: async (query = ''): Promise<Page<LogEntry>> =>
      (await service.send<Page<LogEntry>>('GET', `${own}/integration_logs${query}`)).body.data,
    list: async <Row>(path: string): Promise<Page<Row>> =>
      (await service.send<Page<Row>>('GET', `${own}/${path}`)).body.data,
    /** Waits until something can be read. */
    eventually: async <Result>(read: () => Promise<Result | undefined>): Promise<Result> =>
      vi.waitUntil(async () => (await read()) ?? false, { timeout: 60_000, interval: 25 }) as Promise<Result>,
  }
}
export type Inbound = Awaited<ReturnType<typeof openInbound>>
