import { makeGuardedHttp, type GuardedHttpOptions } from '#infra/guarded-http.ts'
import type { Check } from '#infra/http/health.ts'
import { makeLeases } from '#infra/consumers/lease.ts'
import { checkOutage, type Parts, type Role } from '#infra/parts.ts'
import { capabilities as ownCapabilities } from './capabilities.ts'
import type { Capabilities } from './capability.ts'
import { startPlanner } from './planner.ts'
import { choice, decideByItself } from './planning.ts'
import { makeSend } from './send.ts'
import { startSender } from './sender.ts'
import { startUpkeep } from './upkeep.ts'

export type DeliveryWorkerParts = Pick<Parts, 'config' | 'keys' | 'log' | 'metrics' | 'eventLog' | 'pool' | 'signal'>

type Options = Pick<GuardedHttpOptions, 'timeoutMs' | 'lookup' | 'ca'> & {
  /** The clock that signatures show. Everything else goes by the database's clock. */
  readonly now?: () => Date
  readonly capabilities?: Capabilities
}

/**
 * Plans deliveries from the log and sends them. Of several workers one plans and all send; each takes over what another
 * has left behind.
 */
export const startDeliveryWorker = async (parts: DeliveryWorkerParts, options: Options = {}): Promise<Role> => {
  const { config, keys, log, metrics, eventLog, pool, signal } = parts
  const { now = () => new Date(), capabilities = ownCapabilities, ...httpOptions } = options

  await decideByItself({ pool, eventLog, capabilities, signal })

  const http = makeGuardedHttp({
    allowedHosts: config.DELIVERY_ALLOWED_HOSTS,
    allowHttp: config.DELIVERY_ALLOW_HTTP,
    ...httpOptions,
  })
  const send = makeSend({ capabilities, http, keys, now, log, metrics })
  const sender = startSender({ pool, log, now, capabilities, send, concurrency: config.DELIVERY_CONCURRENCY })
  const leases = makeLeases(pool)
  const upkeep = startUpkeep({ pool, leases, log, signal, retentionDays: config.DELIVERY_RETENTION_DAYS })
  let mustChoose = false
  const planner = startPlanner({
    eventLog,
    pool,
    log,
    metrics,
    signal,
    capabilities,
    leases,
    onWaiting: (isWaiting) => {
      mustChoose = isWaiting
      metrics.deliveriesUndecided.set(isWaiting ? 1 : 0)
    },
    onPlanned: sender.notify,
  })

  const checks = (): readonly Check[] => {
    const { state, failure } = planner.status()
    const problem = sender.problem()
    return [
      checkOutage(parts),
      mustChoose
        ? { name: 'delivery planner', ok: false, detail: `nothing is sent until you choose from where: ${choice}` }
        : { name: 'delivery planner', ok: state !== 'failed', detail: failure?.message ?? state },
      { name: 'delivery sender', ok: problem === undefined, ...(problem !== undefined && { detail: problem }) },
    ]
  }

  return {
    checks: async () => checks(),
    stop: async () => {
      await Promise.all([planner.finished, upkeep.finished, sender.stop()])
      await http.close()
    },
  }
}
