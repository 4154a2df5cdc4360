import { makeGuardedHttp, type GuardedHttpOptions } from '#infra/guarded-http.ts'
import type { Check } from '#infra/http/health.ts'
import { makeLeases } from '#infra/consumers/lease.ts'
import { checkOutage, type Parts, type Role } from '#infra/parts.ts'
import { kafkaSettings } from '#infra/kafka/settings.ts'
import { capabilities as ownCapabilities } from './capabilities.ts'
import type { Capabilities } from './capability.ts'
import { plannerCheck, startPlanning, untilBrokersAnswer } from './start-planning.ts'
import { choice, decideByItself } from './planning.ts'
import { makeSend } from './send.ts'
import { startSender } from './sender.ts'
import { startUpkeep } from './upkeep.ts'

export type DeliveryWorkerParts = Pick<
  Parts,
  'config' | 'keys' | 'dataKeys' | 'log' | 'metrics' | 'eventLog' | 'storedLog' | 'pool' | 'signal' | 'starting'
>

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

  const settings = kafkaSettings(config)
  const kafka = settings && { settings, topic: await untilBrokersAnswer(settings, parts) }
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
  const planning = startPlanning({
    ...parts,
    capabilities,
    leases,
    onWaiting: (isWaiting) => {
      mustChoose = isWaiting
      metrics.deliveriesUndecided.set(isWaiting ? 1 : 0)
    },
    onPlanned: sender.notify,
    ...(kafka && { kafka }),
  })

  const checks = (): readonly Check[] => {
    const problem = sender.problem()
    return [
      checkOutage(parts),
      ...planning
        .checks()
        .map((check) =>
          mustChoose && check.name === plannerCheck
            ? { name: plannerCheck, ok: false, detail: `nothing is sent until you choose from where: ${choice}` }
            : check,
        ),
      { name: 'delivery sender', ok: problem === undefined, ...(problem !== undefined && { detail: problem }) },
    ]
  }

  return {
    checks: async () => checks(),
    stop: async () => {
      await Promise.all([planning.finished, upkeep.finished, sender.stop()])
      await http.close()
    },
  }
}
