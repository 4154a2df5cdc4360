import { randomUUID } from 'node:crypto'
import { v7 as uuidv7 } from 'uuid'
import type { Pool } from 'pg'
import { toStored, type EventOf, type EventShapes } from '#domain/event.ts'
import { endpointConnectionEvents, EndpointConnectionId } from '#domain/integrations/events.ts'
import { signingSecretBinding } from '#domain/integrations/record.ts'
import type { OrganisationId, ProductId } from '#domain/values.ts'
import { lifecycleActionEvents, LifecycleActionId, type LifecycleEventType } from '#domain/workflows/events.ts'
import { systemClock } from '#infra/clock.ts'
import { readConfig } from '#infra/config.ts'
import { storedEvents } from '#domain/stored-events.ts'
import { postgresLog, prepareLog } from '#infra/event-log/postgres/postgres-log.ts'
import { makeDataKeys } from '#infra/crypto/data-keys.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { makeLeases } from '#infra/consumers/lease.ts'
import { makeLog } from '#infra/log.ts'
import { makeMetrics } from '#infra/metrics.ts'
import { seal } from '#infra/crypto/seal.ts'
import { sealedLog } from '#infra/crypto/sealed-log.ts'
import { makeProgress } from '#infra/consumers/progress.ts'
import { startDeliveryWorker } from '../../delivery-worker/delivery-worker.ts'
import { decidePlanning, fromTheBeginning } from '../../delivery-worker/planning/planning.ts'
import { applications } from '../../projections/applications/projection.ts'
import { quotes } from '../../projections/quotes/projection.ts'
import type { SomeProjection } from '../../projections/projection.ts'
import { runProjections } from '../../projections/runner.ts'
import { testDatabase } from '../database.ts'
import { wholeLog } from '../event-log/whole-log.ts'
import { organisation_id, startApplicationWith, type TestApplication } from './applications.ts'

export const masterKey = Buffer.alloc(32, 7).toString('base64')
export const workerEnvironment = { DELIVERY_ALLOWED_HOSTS: '127.0.0.1', DELIVERY_ALLOW_HTTP: 'true' }
export const secret = 'a signing secret of the firm'

type WorkerOptions = Parameters<typeof startDeliveryWorker>[1] & {
  readonly concurrency?: number
  readonly environment?: Readonly<Record<string, string>>
  /** Another pool than that of the fixture. */
  readonly db?: Pool
}

type FixtureOptions = {
  readonly decided?: boolean
  readonly environment?: Readonly<Record<string, string>>
  /** Whether the log holds what is personal under the data keys of those whom it is about, as that of the service does. */
  readonly sealed?: boolean
  /** Read models beside those of applications and quotes. */
  readonly readModels?: readonly SomeProjection[]
}

/**
 * A log, read models that follow it, and delivery workers, in a database of their own, where it is decided that
 * deliveries are planned from the beginning of the log.
 */
export const deliveryFixture = async ({
  decided = true,
  environment = {},
  sealed = false,
  readModels = [],
}: FixtureOptions = {}) => {
  const database = await testDatabase()
  if (decided) await decidePlanning(database.pool, fromTheBeginning)
  const { pool, url } = database
  await prepareLog(pool)
  const storedLog = wholeLog(postgresLog({ url }), pool)
  const keys = deriveKeys(masterKey)
  const dataKeys = makeDataKeys({ pool, keys })
  const eventLog = sealed ? sealedLog(storedLog, dataKeys, storedEvents) : storedLog
  const log = makeLog('silent', 'test')
  const stopping = new AbortController()
  const projecting = await runProjections([applications, quotes, ...readModels], {
    eventLog,
    pool,
    log,
    leases: makeLeases(pool),
    progress: makeProgress(),
    signal: stopping.signal,
  })
  const stops: (() => Promise<void>)[] = []

  const append = async <Shapes extends EventShapes>(
    shapes: Shapes,
    stream: string,
    events: readonly EventOf<Shapes>[],
    organisation: string = organisation_id,
  ) => {
    const metadata = {
      organisation_id: organisation,
      actor: { type: 'system', id: null },
      correlation_id: 'test',
      causation_id: null,
      occurred_at: '2026-01-15T12:00:00.000Z',
    } as const
    const stored = events.map((event) => ({ id: uuidv7(), ...toStored(shapes, event), metadata }))
    const result = await eventLog.append(stream, 'any', stored)
    if (result.outcome !== 'appended') throw new Error(`A conflict in ${stream}.`)
    return { ids: stored.map(({ id }) => id), position: result.position }
  }

  /** A connection to an address, and an action that sends these events over it. */
  const setUp = async (
    base_url: string,
    event_types: readonly LifecycleEventType[],
    choices: {
      readonly product_id?: ProductId
      readonly organisation?: OrganisationId
      readonly signing?: string
    } = {},
  ) => {
    const { organisation = organisation_id, signing = secret } = choices
    const endpoint_connection_id = EndpointConnectionId.parse(randomUUID())
    const lifecycle_action_id = LifecycleActionId.parse(randomUUID())
    const connection = `endpoint_connection-${endpoint_connection_id}`
    const action = `lifecycle_action-${lifecycle_action_id}`
    const sealing = (plain: string) => seal(keys, plain, signingSecretBinding(organisation, endpoint_connection_id))
    const chosen = { product_id: choices.product_id ?? null, event_types: [...event_types], endpoint_connection_id }

    await append(
      endpointConnectionEvents,
      connection,
      [
        {
          type: 'EndpointConnectionCreated',
          endpoint_connection_id,
          organisation_id: organisation,
          name: 'CRM',
          base_url,
          sealed_secret: sealing(signing),
        },
      ],
      organisation,
    )
    await append(
      lifecycleActionEvents,
      action,
      [
        {
          type: 'LifecycleActionCreated',
          lifecycle_action_id,
          organisation_id: organisation,
          name: 'Tell',
          ...chosen,
          active: true,
        },
      ],
      organisation,
    )

    return {
      endpoint_connection_id,
      lifecycle_action_id,
      move: (to: string) =>
        append(endpointConnectionEvents, connection, [{ type: 'EndpointConnectionMoved', base_url: to }], organisation),
      regenerate: (plain: string, former_signs_until: string | null = null) =>
        append(
          endpointConnectionEvents,
          connection,
          [{ type: 'EndpointSecretRegenerated', sealed_secret: sealing(plain), former_signs_until }],
          organisation,
        ),
      removeConnection: () =>
        append(
          endpointConnectionEvents,
          connection,
          [{ type: 'EndpointConnectionRemoved', name: 'CRM' }],
          organisation,
        ),
      removeAction: () =>
        append(lifecycleActionEvents, action, [{ type: 'LifecycleActionRemoved', name: 'Tell' }], organisation),
      deactivateAction: () =>
        append(
          lifecycleActionEvents,
          action,
          [{ type: 'LifecycleActionChanged', ...chosen, active: false }],
          organisation,
        ),
    }
  }

  /** Several workers may stand side by side; each has the parts that a process of its own would have. */
  const startWorker = async (given: WorkerOptions = {}) => {
    const { concurrency = 8, environment: ownEnvironment = {}, db = pool, ...options } = given
    const ending = new AbortController()
    const worker = await startDeliveryWorker(
      {
        config: readConfig({
          ...workerEnvironment,
          DELIVERY_CONCURRENCY: String(concurrency),
          ...environment,
          ...ownEnvironment,
        }),
        keys,
        dataKeys,
        log,
        metrics: makeMetrics(),
        eventLog,
        storedLog,
        pool: db,
        clock: systemClock,
        signal: ending.signal,
      },
      options,
    )
    const stop = async () => {
      ending.abort()
      await worker.stop()
    }
    stops.push(stop)
    return { ...worker, stop }
  }

  return {
    ...database,
    eventLog,
    storedLog,
    keys,
    dataKeys,
    append,
    setUp,
    startWorker,
    startApplication: startApplicationWith(append),
    deliveries: async () =>
      (
        await pool.query<DeliveryRow>(`
          select delivery.*, due_at, sent, unsent, started_at
          from delivery left join delivery_queue using (id) order by planned_at, position, id`)
      ).rows,
    /** The attempts that have ended. */
    attempts: async () =>
      (await pool.query<AttemptRow>('select * from delivery_attempt order by delivery_id, number')).rows,
    /** So much time passes for what is pending. */
    passTime: (seconds: number) =>
      pool.query(
        'update delivery_queue set due_at = due_at - make_interval(secs => $1), leased_until = leased_until - make_interval(secs => $1)',
        [seconds],
      ),
    /** Waits until the read model shows an application in a status. */
    untilShown: ({ application_id }: TestApplication, status: string) =>
      eventually(async () => {
        const query = 'select from applications where id = $1 and status = $2'
        return (await pool.query(query, [application_id, status])).rowCount === 1
      }),
    stopProjections: async () => {
      stopping.abort()
      await Promise.all(projecting.map(async ({ finished }) => finished))
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(stops.map(async (stop) => stop()))
      stopping.abort()
      await Promise.all(projecting.map(async ({ finished }) => finished))
      await eventLog.close()
      await database[Symbol.asyncDispose]()
    },
  }
}
export type DeliveryFixture = Awaited<ReturnType<typeof deliveryFixture>>

export type DeliveryRow = {
  readonly id: string
  readonly event_id: string
  readonly action_id: string
  readonly connection_id: string
  readonly type: string
  readonly subject_type: string
  readonly subject_id: string
  readonly state: string
  readonly reason: string | null
  /** Null when it is not pending, like what follows. */
  readonly due_at: Date | null
  readonly sent: number | null
  readonly unsent: number | null
  /** Set while it is being sent. */
  readonly started_at: Date | null
}

export type AttemptRow = {
  readonly delivery_id: string
  readonly number: number
  readonly outcome: string
  readonly status: number | null
  readonly reason: string | null
}

/** Waits until something is so, however long the machine takes. */
export const eventually = async (isSo: () => Promise<boolean>, timeoutMs = 60_000): Promise<void> => {
  const deadline = performance.now() + timeoutMs
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error('It did not become so in time.')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
