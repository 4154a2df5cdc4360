import type { Config } from './config.ts'
import { healthDetails, type Check, type Checks } from './http/health.ts'
import { idleUnderLoadMs, listen, type Listening } from './http/listen.ts'
import { makeMetrics, type Metrics } from './metrics.ts'

export type HealthPort = Pick<Listening, 'drain' | 'close'> & {
  readonly metrics: Metrics
  /** The checks that the process is ready, as far as it has come. */
  readonly checks: Checks
  /** Says why the process is not ready yet. */
  readonly starting: (check: Check) => void
  /** From now on these say whether the process is ready. */
  readonly started: (checks: Checks) => void
}

/** Opens HEALTH_PORT, which answers from the first moment of a process: until all has started, it is not ready. */
export const openHealthPort = async (role: string, { HOST, HEALTH_PORT }: Config): Promise<HealthPort> => {
  const metrics = makeMetrics()
  let checks: Checks = async () => [{ name: 'start', ok: false }]
  const details = healthDetails(role, metrics, () => checks())
  const { drain, close } = await listen(details, HOST, HEALTH_PORT, 'HEALTH_PORT', { idleMs: idleUnderLoadMs })
  return {
    metrics,
    checks: () => checks(),
    drain: () => {
      checks = async () => [{ name: 'stop', ok: false, detail: 'the process is being stopped' }]
      drain()
    },
    close,
    starting: (check) => {
      checks = async () => [check]
    },
    started: (own) => {
      checks = own
    },
  }
}
