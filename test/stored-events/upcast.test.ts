import { expect, test, vi } from 'vitest'
import { ApplicationId, OrganisationId } from '#domain/values.ts'
import { derivedId, newId } from '#infra/ids.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { startReceiver } from '../../demo/receiver.ts'
import { startDeliveryWorker } from '../../delivery-worker/delivery-worker.ts'
import { firmFile } from '../policies/first-year-firm.ts'
import { wholeService } from '../whole-service.ts'

const organisation_id = OrganisationId.parse(derivedId('organisation', 'acme'))
const patience = { timeout: 60_000, interval: 50 }
const workflowOn = (type: string) =>
  `      - { name: ${type}, trigger: { event_type: ${type} }, actions: [{ kind: webhook, endpoint_connection: firm }] }\n`
const daySeconds = 86_400

test(
  'an event stored by an earlier version is read as the newest from the log: folded, shown, followed by what is due and sent',
  { timeout: 240_000 },
  async () => {
    await using stack = new AsyncDisposableStack()
    const hooks = await startReceiver({ secret: 'the secret of the firm' })
    stack.defer(async () => hooks.close())
    const service = stack.use(await wholeService({ DELIVERY_ALLOWED_HOSTS: '127.0.0.1', DELIVERY_ALLOW_HTTP: 'true' }))
    const ending = new AbortController()
    const worker = await startDeliveryWorker({ ...service.parts, signal: ending.signal })
    stack.defer(async () => {
      ending.abort()
      await worker.stop()
    })
    const workflows = ['application.started', 'application.abandoned'].map(workflowOn).join('')
    const file = firmFile(hooks.url, 'http://127.0.0.1:9').replace('    workflows:\n', `    workflows:\n${workflows}`)
    await service.setUp(file)
    const { token } = await service.client(organisation_id, ['read', 'write'])
    const start = async () => {
      const body = { product_slug: 'term', journey_slug: 'standard' }
      return service.send<{ id: string }>('POST', '/api/v1/applications', { token, body })
    }
    const { body } = await vi.waitUntil(async () => {
      const answer = await start()
      return answer.status === 201 && answer
    }, patience)

    // As it was stored before applications said for themselves when they are inactive.
    const { eventLog } = service.parts
    const [newest] = await eventLog.read(`application-${body.data.id}`)
    if (!newest) throw new Error('The application has no events.')
    const id = ApplicationId.parse(newId())
    const { inactive_after_days: _, ...before } = newest.data
    const data = { ...before, application_id: id, idempotency_key: id }
    const { type, metadata } = newest
    const old = { id: newId(), type, schema_version: 1, data, metadata }
    await eventLog.append(`application-${id}`, 'no_stream', [old])
    const { rows } = await service.parts.pool.query<{ schema_version: number; data: object }>(
      sql`select schema_version, data from event_log.event where stream = ${`application-${id}`}`,
    )
    expect(rows).toMatchObject([{ schema_version: 1, data: { application_id: id } }])
    expect(rows[0]?.data).not.toHaveProperty('inactive_after_days')

    // Shown by query-api from the read model, and sent.
    const shown = async () => service.send<{ status: string }>('GET', `/api/v1/applications/${id}`, { token })
    await vi.waitUntil(async () => (await shown()).status === 200, patience)
    const told = (name: string) =>
      hooks.received.some(
        (event) => event.type === name && (event['aggregate'] as { readonly id: string } | undefined)?.id === id,
      )
    await vi.waitUntil(() => told('application.started'), patience)
    // Folded by command-api: it takes an answer.
    const patched = await service.send('PATCH', `/api/v1/applications/${id}`, { token, body: { term_years: 20 } })
    expect(patched).toMatchObject({ status: 200, body: { data: { id, term_years: 20 } } })
    // It is given up after the days that the newest version has for it.
    await service.send('POST', '/admin/v1/clock', { body: { forward_seconds: 31 * daySeconds } })
    await vi.waitUntil(async () => (await shown()).body.data.status === 'abandoned', patience)
    await vi.waitUntil(() => told('application.abandoned'), patience)
  },
)
