import { makeGuardedHttp, type GuardedHttpOptions } from '#infra/guarded-http.ts'
import type { Check } from '#infra/http/health.ts'
import { makeLeases } from '#infra/consumers/lease.ts'
import { checkConsumers, checkOutage, type Parts, type Role } from '#infra/role-parts.ts'
import { createPool } from '#infra/postgres/postgres.ts'
import { kafkaSettings } from '#infra/kafka/settings.ts'
import { onceDatabaseAnswers } from '#infra/wait-for-store.ts'
import { capabilities as ownCapabilities, lifecycleSubjects } from './capabilities.ts'
import type { Capabilities } from './capability.ts'
import { startSendingAccesses } from './accesses/send-accesses.ts'
import { makeFilling } from './custom-integrations/filling.ts'
import { startLifecycleFeed } from './lifecycle/feed.ts'
import { startPublishingOutcomes } from './recovery/publish-outcomes.ts'
import { startOperations } from './recovery/operations.ts'
import { plannerCheck, startPlanning, untilBrokersAnswer } from './planning/start-planning.ts'
import { choice, decideByItself } from './planning/planning.ts'
import { startRecoveries } from './recovery/recovery.ts'
import { makeSend } from './sending/send.ts'
import { startSender } from './sending/sender.ts'
import { startUpkeep } from './recovery/upkeep.ts'
import { startReleasingStuck } from './recovery/release-stuck.ts'
import { realTime } from '#infra/clock.ts'

export type DeliveryWorkerParts = Pick<
  Parts,
  | 'config'
  | 'keys'
  | 'dataKeys'
  | 'log'
  | 'metrics'
  | 'eventLog'
  | 'storedLog'
  | 'pool'
  | 'clock'
  | 'signal'
  | 'starting'
>

type Options = Pick<GuardedHttpOptions, 'timeoutMs' | 'lookup' | 'ca'> & {
  /** The clock that signatures show. Everything else goes by the database's clock. */
  readonly now?: () => Date
  readonly capabilities?: Capabilities
}

/** One claims, one records, one renews, one reads for bodies. */
const connectionsOfSender = 4

/**
 * Plans deliveries from the log and sends them. Of several workers one plans and all send; each takes over what another
 * has left behind.
 */
export const startDeliveryWorker = async (parts: DeliveryWorkerParts, options: Options = {}): Promise<Role> => {
  const { config, keys, dataKeys, log, metrics, eventLog, pool, signal } = parts
  const { now = realTime, capabilities = ownCapabilities, ...httpOptions } = options

  const settings = kafkaSettings(config)
  const kafka = settings && { settings, topic: await untilBrokersAnswer(settings, parts) }
  await onceDatabaseAnswers(parts, () => decideByItself({ pool, eventLog, capabilities, signal }))

  const http = makeGuardedHttp({
    allowedHosts: config.DELIVERY_ALLOWED_HOSTS,
    allowHttp: config.DELIVERY_ALLOW_HTTP,
    ...httpOptions,
  })
  const queue = createPool(pool.options.connectionString ?? '', {
    name: 'delivery sender',
    max: connectionsOfSender,
    onLost: (error) => log.warn({ error }, 'idle database connection lost'),
  })
  const filling = makeFilling()
  const send = makeSend({ capabilities, http, fill: filling.fill, keys, dataKeys, now, pool, log, metrics })
  const sender = startSender({ pool: queue, log, now, capabilities, send, concurrency: config.DELIVERY_CONCURRENCY })
  const leases = makeLeases(pool, { log })
  const role = 'delivery-worker' as const
  const following = { eventLog, pool, log, metrics, signal, leases, role }
  const outcomes = startPublishingOutcomes({ pool, eventLog, leases, log, signal })
  const recoveries = startRecoveries({ pool, log, capabilities, signal, onResent: sender.notify })
  const watch = startReleasingStuck({ pool, log, metrics, signal, onReleased: sender.notify })
  const feed = startLifecycleFeed(lifecycleSubjects, following)
  const operations = startOperations({ ...following, onPlanned: sender.notify })
  const upkeep = startUpkeep({
    pool,
    leases,
    log,
    signal,
    clock: parts.clock,
    retentionDays: config.DELIVERY_RETENTION_DAYS,
    accessDays: config.ACCESS_RETENTION_DAYS,
  })
  const accesses = startSendingAccesses({ config, pool, leases, http, log, signal })
  let mustChoose = false
  const planning = await startPlanning({
    ...parts,
    role,
    leases,
    capabilities,
    onWaiting: (isWaiting) => {
      mustChoose = isWaiting
      metrics.deliveriesUndecided.set(isWaiting ? 1 : 0)
    },
    onPlanned: sender.notify,
    ...(kafka && { kafka }),
  })

  const checks = async (): Promise<readonly Check[]> => {
    const problem = sender.problem()
    return [
      checkOutage(parts),
      ...(await planning.checks()).map((check) =>
        mustChoose && check.name === plannerCheck
          ? { name: plannerCheck, ok: false, detail: `nothing is sent until you choose from where: ${choice}` }
          : check,
      ),
      ...(await checkConsumers(parts, [feed, operations])),
      ...(accesses.check ? [accesses.check()] : []),
      { name: 'delivery sender', ok: problem === undefined, ...(problem !== undefined && { detail: problem }) },
    ]
  }

  const stop = async () => {
    const running = [planning, feed, operations, upkeep, outcomes, recoveries, watch, accesses]
    await Promise.all([sender.stop(), ...running.map(async ({ finished }) => finished)])
    await queue.end()
    await filling.close()
    await http.close()
  }
  let stopping: Promise<void> | undefined

  return {
    checks,
    stop: () => (stopping ??= stop()),
  }
}
