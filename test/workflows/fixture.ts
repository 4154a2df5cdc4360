import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { vi } from 'vitest'
import type { LeadRecord } from '#domain/leads/record.ts'
import type { Ingest } from '#domain/ingests/record.ts'
import type { Workflow } from '#domain/workflows/record.ts'
import { startReceiver } from '../../demo/receiver.ts'
import { startDeliveryWorker } from '../../delivery-worker/delivery-worker.ts'
import { compiled } from '../compiled.ts'
import { wholeService } from '../whole-service.ts'

const secret = 'a signing secret of the firm'
const patience = { timeout: 60_000, interval: 10 }
const sending = { DELIVERY_ALLOWED_HOSTS: '127.0.0.1', DELIVERY_ALLOW_HTTP: 'true' }

const file = (base_url: string) => `
organisations:
  - slug: firm
    name: A firm
    endpoint_connections:
      - { name: crm, base_url: '${base_url}', signing_secret: ${secret} }
    campaigns:
      - { key: spring, name: Spring }
      - { key: autumn, name: Autumn }
    team_members:
      - { id: 71000000-0000-4000-8000-000000000001, full_name: Olive Owner, email: olive@example.org }
    custom_fields:
      - { key: budget, label: Monthly budget, type: money }
      - { key: renewal, label: Renewal, type: date }
      - { key: smoker, label: Smoker, type: boolean }
      - { key: covers, label: Wants, type: choices, options: [life, critical_illness] }
`

export type LeadBody = Readonly<Record<string, unknown>> & {
  readonly event_id: string
  readonly event_type: string
  readonly workflow_name: string
  readonly contact_id: string
  readonly payload: Readonly<Record<string, unknown>>
  readonly contact: Readonly<Record<string, unknown>>
  readonly lead: Readonly<Record<string, unknown>>
}

type Delivery = { readonly id: string; readonly type: string; readonly state: string; readonly reason: string | null }

/** The whole service with a firm that takes leads, a worker that sends, and the firm's receiver of webhooks. */
export const workflowService = async ({ workers = 1 }: { readonly workers?: number } = {}) => {
  const service = await wholeService(sending)
  const hooks = await startReceiver({ secret })
  const stops: (() => Promise<void>)[] = []
  const startWorker = async () => {
    const ending = new AbortController()
    const worker = await startDeliveryWorker({ ...service.parts, signal: ending.signal })
    stops.push(async () => {
      ending.abort()
      await worker.stop()
    })
  }
  const stopWorkers = async () => {
    await Promise.all(stops.splice(0).map(async (stop) => stop()))
  }
  await Promise.all(Array.from({ length: workers }, startWorker))
  await service.setUp(file(hooks.url))
  const organisations = await service.send<readonly { id: string }[]>('GET', '/admin/v1/organisations')
  const organisation_id = organisations.body.data[0]?.id ?? ''
  const admin = `/admin/v1/organisations/${organisation_id}`
  const sender = await service.client(organisation_id, ['read', 'write', 'crm'])
  let references = 0

  const processes: ChildProcess[] = []

  return {
    ...service,
    hooks,
    organisation_id,
    admin,
    sender,
    /** Creates a workflow that sends webhooks to the firm's receiver. */
    workflow: async (name: string, trigger: object, actions = [{ kind: 'webhook', endpoint_connection: 'crm' }]) => {
      const answer = await service.send<Workflow>('POST', `${admin}/workflows`, { body: { name, trigger, actions } })
      if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
      return answer.body.data
    },
    /** Sends a lead and answers the person's id once it was applied. */
    lead: async (body: object = {}): Promise<string> => {
      const reference = `reference-${++references}`
      const identity = { email: `${reference}@example.org`, first_name: 'Ada', last_name: 'Finch' }
      const posted = await service.send<Ingest>('POST', '/api/v1/crm/ingests', {
        token: sender.token,
        body: { source: 'website', source_reference: reference, identity, ...body },
      })
      return vi.waitFor(async () => {
        const { body: shown } = await service.send<Ingest>('GET', `/api/v1/crm/ingests/${posted.body.data.id}`, {
          token: sender.token,
        })
        if (shown.data.status !== 'applied' || !shown.data.contact_id) throw new Error(JSON.stringify(shown))
        return shown.data.contact_id
      }, patience)
    },
    act: async (contact_id: string, ...acts: readonly object[]) => {
      const body = { acts, by: 'Olive Owner' }
      const answer = await service.send<LeadRecord>('POST', `${admin}/leads/${contact_id}/acts`, { body })
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
    },
    /** Waits until so many webhooks have come, each Idempotency-Key once, and gives their bodies. */
    bodies: async (count: number): Promise<readonly LeadBody[]> => {
      await hooks.untilReceived(count, patience.timeout)
      return hooks.received as readonly unknown[] as readonly LeadBody[]
    },
    deliveries: async (): Promise<readonly Delivery[]> => {
      const path = `/admin/v1/deliveries?organisation_id=${organisation_id}&limit=200`
      return (await service.send<readonly Delivery[]>('GET', path)).body.data
    },
    /**
     * So much time passes for what waits to be sent again. What is being sent keeps its lease for some seconds: this is called
     * again and again, and would end each attempt before it was made.
     */
    passTime: (seconds: number) =>
      service.database.pool.query(
        `update delivery_queue set due_at = due_at - make_interval(secs => $1),
          leased_until = leased_until - make_interval(secs => $1)
        where leased_until is null or started_at < now() - interval '3 seconds'`,
        [seconds],
      ),
    startWorker,
    stopWorkers,
    /** A delivery worker in a process of its own, which can be killed. */
    startProcess: () => {
      const child = spawn(process.execPath, ['delivery-worker/main.ts'], {
        cwd: resolve(import.meta.dirname, '../..'),
        env: {
          ...compiled(),
          ...sending,
          DATABASE_URL: service.database.url,
          MASTER_KEY: Buffer.alloc(32, 5).toString('base64'),
          OPERATOR_KEY: 'the operator key of the tests',
          HEALTH_PORT: '0',
          LOG_LEVEL: 'error',
        },
        stdio: ['ignore', 'ignore', 'inherit'],
      })
      processes.push(child)
      const ended = once(child, 'exit')
      return {
        kill: async () => {
          child.kill('SIGKILL')
          await ended
        },
      }
    },
    [Symbol.asyncDispose]: async () => {
      for (const child of processes) child.kill('SIGKILL')
      await hooks.close()
      await stopWorkers()
      await service[Symbol.asyncDispose]()
    },
  }
}
export type WorkflowService = Awaited<ReturnType<typeof workflowService>>

export const eventually = <Result>(check: () => Promise<Result> | Result): Promise<Result> =>
  vi.waitFor(check, patience)
