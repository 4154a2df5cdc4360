import { signingSecretPlace } from '#domain/integrations/record.ts'
import { makeGuardedHttp, type GuardedHttpOptions } from '#infra/guarded-http.ts'
import type { Check } from '#infra/http/health.ts'
import type { Keys } from '#infra/crypto/keys.ts'
import { makeLeases } from '#infra/consumers/lease.ts'
import type { Parts, Role } from '#infra/parts.ts'
import { unseal } from '#infra/crypto/seal.ts'
import { startPlanner } from './planner.ts'
import type { Claimed } from './queue.ts'
import { makeSend } from './send.ts'
import { startSender } from './sender.ts'

export type DeliveryWorkerParts = Pick<Parts, 'config' | 'keys' | 'log' | 'metrics' | 'eventLog' | 'pool' | 'signal'>

type Options = Pick<GuardedHttpOptions, 'timeoutMs' | 'lookup' | 'ca'> & { readonly now?: () => Date }

/**
 * Plans webhooks from the log and sends them. Of several workers one plans and all send; each takes over what another has
 * left behind.
 */
export const startDeliveryWorker = async (parts: DeliveryWorkerParts, options: Options = {}): Promise<Role> => {
  const { config, keys, log, metrics, eventLog, pool, signal } = parts
  const { now = () => new Date(), ...httpOptions } = options

  const http = makeGuardedHttp({
    allowedHosts: config.DELIVERY_ALLOWED_HOSTS,
    allowHttp: config.DELIVERY_ALLOW_HTTP,
    ...httpOptions,
  })
  const send = makeSend({ http, openSecret: openSecretWith(keys), now, log, metrics })
  const sender = startSender({ pool, log, now, send, concurrency: Math.max(1, config.DELIVERY_CONCURRENCY) })
  const planner = startPlanner({
    eventLog,
    pool,
    log,
    metrics,
    signal,
    now,
    leases: makeLeases(pool),
    onPlanned: sender.notify,
  })

  const checks = (): readonly Check[] => {
    const { state, failure } = planner.status()
    const problem = sender.problem()
    return [
      { name: 'delivery planner', ok: state !== 'failed', detail: failure?.message ?? state },
      { name: 'delivery sender', ok: problem === undefined, ...(problem !== undefined && { detail: problem }) },
    ]
  }

  return {
    checks: async () => checks(),
    stop: async () => {
      await Promise.all([planner.finished, sender.stop()])
      await http.close()
    },
  }
}

const openSecretWith =
  (keys: Keys) =>
  ({ organisation_id, connection_id, sealed_secret }: Claimed): string =>
    unseal(keys, sealed_secret, signingSecretPlace(organisation_id, connection_id))
