import { createServer, type IncomingMessage } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listening } from '../delivery/guarded-http.ts'
import { eventually, workflowService, type WorkflowService } from '../workflows/fixture.ts'
import type { LogEntry } from './fixture.ts'

type Call = { readonly url: string; readonly headers: IncomingMessage['headers']; readonly body: string }

/** The API of another system, with a token server. It refuses its first token, and its first call is answered 503. */
const openApi = async () => {
  const calls: Call[] = []
  let tokens = 0
  let unavailable = 1
  const statusFor = (url: string, authorization: string | undefined): number => {
    if (url.startsWith('/api/secure')) return authorization === 'Bearer T2' ? 200 : 401
    return unavailable-- > 0 ? 503 : 201
  }
  const server = await listening(
    createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const { url = '', headers } = request
        if (url === '/token') {
          response.end(JSON.stringify({ access_token: `T${++tokens}`, token_type: 'Bearer', expires_in: 3600 }))
          return
        }
        calls.push({ url, headers, body: Buffer.concat(chunks).toString() })
        response.writeHead(statusFor(url, headers.authorization)).end()
      })
    }),
  )
  return { ...server, calls, origin: `http://127.0.0.1:${server.port}` }
}

let api: Awaited<ReturnType<typeof openApi>>
let service: WorkflowService
beforeAll(async () => {
  api = await openApi()
  service = await workflowService()
  const integration = async (
    name: string,
    credential: object,
    path: string,
    secrets: object,
    body_template?: string,
  ) => {
    const endpoints = [{ key: 'add', path, headers: { 'X-Event': '{{ event_type }}' }, body_template }]
    const outbound = { base_url: `${api.origin}/api`, credential, endpoints }
    const at = `${service.admin}/custom_integrations`
    const made = await service.send<{ id: string }>('POST', at, { body: { name, outbound } })
    await service.send('POST', `${at}/${made.body.data.id}/connections`, { body: { name: 'main', secrets } })
  }
  await integration(
    'Mailing list',
    { type: 'api_key', secret: 'key' },
    '/contacts/{{ contact_id }}',
    { key: 'our key' },
    '{ "email": "{{ contact.email }}", "stage": "{{ lead.stage }}" }',
  )
  const oauth2 = { type: 'oauth2', token_url: `${api.origin}/token`, client_id: 'we', secret: 'secret' }
  await integration('Secure', oauth2, '/secure', { secret: 'our secret' })
}, 60_000)
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await api[Symbol.asyncDispose]()
})

const callsOf = async (path: string, count: number) =>
  eventually(() => {
    const own = api.calls.filter(({ url }) => url.startsWith(path))
    expect(own.length).toBeGreaterThanOrEqual(count)
    return own
  })

test('a workflow calls an endpoint with its template and its key, again after 503, with the same Idempotency-Key', async () => {
  const actions = [{ kind: 'integration', integration: 'Mailing list', endpoint: 'add' }] as never
  await service.workflow('Add to the list', { event_type: 'lead.created' }, actions)
  const contact_id = await service.lead({ identity: { email: 'ada@example.org', first_name: 'Ada' } })

  await callsOf('/api/contacts', 1)
  await eventually(async () => {
    await service.passTime(20)
    expect(api.calls.filter(({ url }) => url.startsWith('/api/contacts')).length).toBeGreaterThanOrEqual(2)
  })
  const [first, second] = await callsOf('/api/contacts', 2)

  expect(first?.url).toBe(`/api/contacts/${contact_id}`)
  expect(JSON.parse(first?.body ?? '')).toEqual({ email: 'ada@example.org', stage: 'new' })
  expect(first?.headers).toMatchObject({ 'x-api-key': 'our key', 'x-event': 'lead.created' })
  expect(first?.headers).not.toHaveProperty('x-service-signature')
  expect(second?.headers['idempotency-key']).toBe(first?.headers['idempotency-key'])
  const logged = await eventually(async () => {
    const path = `${service.admin}/integration_logs?direction=outbound`
    const { data } = (await service.send<readonly LogEntry[]>('GET', path)).body
    expect(data.some(({ accepted }) => accepted)).toBe(true)
    return data
  })
  expect(logged.map(({ status }) => status)).toEqual([201, 503])
})

test('a token that is refused is renewed within the attempt; without a template the whole envelope is sent', async () => {
  const actions = [{ kind: 'integration', integration: 'Secure/main', endpoint: 'add' }] as never
  await service.workflow('Tell the secure one', { event_type: 'lead.created' }, actions)
  const contact_id = await service.lead()

  const [first, second] = await callsOf('/api/secure', 2)

  expect([first?.headers.authorization, second?.headers.authorization]).toEqual(['Bearer T1', 'Bearer T2'])
  expect(JSON.parse(second?.body ?? '')).toMatchObject({ event_type: 'lead.created', contact_id })
  expect(second?.body).not.toContain('$endpoint')
})

test('202: a ping calls the endpoint that the operator names, and 422 says which there are', async () => {
  const listed = await service.send<readonly { id: string; integration: string }[]>(
    'GET',
    `${service.admin}/integration_connections`,
  )
  const { id } = listed.body.data.find(({ integration }) => integration === 'Secure') ?? { id: '' }
  const ping = `${service.admin}/connections/${id}/ping`

  const unnamed = await service.send('POST', ping, { body: {} })
  const { status } = await service.send('POST', ping, { body: { endpoint: 'add' } })

  expect(unnamed).toMatchObject({
    status: 422,
    body: { error: { fields: { endpoint: 'must be an endpoint of the integration: add' } } },
  })
  expect(status).toBe(202)
  const pings = await eventually(() => {
    const own = api.calls.filter(({ body }) => body.includes('webhook.ping'))
    expect(own.some(({ headers }) => headers.authorization === 'Bearer T2')).toBe(true)
    return own
  })
  expect(JSON.parse(pings.at(-1)?.body ?? '')).toMatchObject({ aggregate: { type: 'connection', id } })
})

test('200: the pace of an integration’s connection is set like that of an endpoint', async () => {
  const listed = await service.send<readonly { id: string }[]>('GET', `${service.admin}/integration_connections`)
  const path = `${service.admin}/connections/${listed.body.data[0]?.id}/delivery_settings`

  const changed = await service.send('PATCH', path, { body: { per_second: 5 } })

  expect(changed).toMatchObject({ status: 200, body: { data: { per_second: 5 } } })
})

test('an integration or a connection that is not there cannot be named', async () => {
  const action = (integration: string) => ({ kind: 'integration', integration, endpoint: 'add' })
  const body = {
    name: 'Nobody',
    trigger: { event_type: 'lead.created' },
    actions: [action('Nobody'), action('Secure/x')],
  }
  const { status } = await service.send('POST', `${service.admin}/workflows`, { body })

  expect(status).toBe(422)
})
