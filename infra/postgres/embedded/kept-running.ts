import { retry } from '../../retry.ts'
import { startEmbeddedPostgres, type EmbeddedPostgres, type EmbeddedPostgresOptions } from './embedded-postgres.ts'

/** Whatever ended it again sooner is no passing fault. */
const lastsMs = 60_000
const againWithinMs = 30_000

/**
 * An embedded PostgreSQL that is started again at its address when it ends by itself, with all that was committed: whoever uses
 * it takes that for an outage. `lost` resolves when it has ended again within a minute, and rejects when it does not start.
 */
export const keepPostgresRunning = async (options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> => {
  let server = await startEmbeddedPostgres(options)
  const { url, shortestUrl } = server
  const again = { ...options, port: Number(new URL(url).port) }
  let starting: Promise<unknown> = Promise.resolve()
  let isStopping = false

  const keep = async (): Promise<void> => {
    let startedAt = -Infinity
    for (;;) {
      await server.lost
      if (performance.now() - startedAt < lastsMs) return
      options.log?.error('PostgreSQL ended by itself and is started again')
      const started = retry(() => startEmbeddedPostgres(again), {
        isTransient: () => !isStopping,
        delayMaximumMs: 1_000,
        withinMs: againWithinMs,
      })
      starting = started.catch(() => undefined)
      server = await started
      startedAt = performance.now()
    }
  }

  return {
    url,
    shortestUrl,
    lost: keep(),
    stop: async () => {
      isStopping = true
      await starting
      await server.stop()
    },
  }
}
