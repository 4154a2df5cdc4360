import { OwnError } from '#domain/own-error.ts'
import { isAboutErased } from '#infra/crypto/erased.ts'
import { isBehind } from '#infra/consumers/until-shown.ts'
import { LeaseLost } from '#infra/consumers/required-lease.ts'
import { LogUnavailable } from '#infra/event-log/event-log.ts'
import type { Log } from '#infra/log.ts'
import { isUnavailable } from '#infra/postgres/postgres.ts'
import { reasonOf } from '#infra/reason.ts'

const concurrency = 16

const isOutage = (error: unknown): boolean =>
  error instanceof LogUnavailable || error instanceof LeaseLost || isUnavailable(error) || isBehind(error)

const errorOf = (error: unknown): Error =>
  error instanceof Error ? error : new OwnError(reasonOf(error), { cause: error })

/**
 * Does something for each, several at a time. One that fails keeps no other from its turn: the first failure is returned
 * once all had theirs. One that would fail all of them ends it.
 */
export const eachOf =
  (log: Pick<Log, 'info'>, signal: AbortSignal) =>
  async <Item>(
    items: readonly Item[],
    work: (item: Item) => Promise<unknown>,
  ): Promise<{ readonly failure: Error | undefined }> => {
    const waiting = items.values()
    const met: { failure?: Error; outage?: Error } = {}
    const next = async () => {
      for (const item of waiting)
        try {
          if (signal.aborted || met.outage) return
          await work(item)
        } catch (error) {
          // Nothing follows any more for a person who was erased.
          if (isAboutErased(error)) log.info({ error }, 'nothing is sent: the person was erased')
          else if (isOutage(error)) met.outage ??= errorOf(error)
          else met.failure ??= errorOf(error)
        }
    }
    await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, next))
    if (met.outage) throw met.outage
    return { failure: met.failure }
  }
export type EachOf = ReturnType<typeof eachOf>
