import type { IngestStep } from '#domain/ingests/events.ts'
import type { IngestCommand, IngestState } from '#domain/ingests/ingest.ts'
import { isTransient } from '#infra/consumers/failures.ts'
import type { Clock } from '#infra/clock.ts'
import { isAboutErased } from '#infra/crypto/erased.ts'
import type { Log } from '#infra/log.ts'
import type { Context } from '../writing/handle.ts'

export type DeferralDeps = { readonly log: Pick<Log, 'error'>; readonly clock: Pick<Clock, 'now'> }

/** The seconds after which the first, the second try and so on is repeated. */
const retryAfterSeconds = [10, 40, 120, 600]

/** Counted from now, however late what is tried again comes. */
export const later = (clock: Pick<Clock, 'now'>, attempt: number): string =>
  new Date(clock.now().getTime() + (retryAfterSeconds[Math.max(attempt, 1) - 1] ?? 600) * 1_000).toISOString()

/**
 * A failure on our side is tried again later. Trouble with the database or the log is waited out by the runner of the
 * reaction.
 */
export const orDefer = async (
  { record, picked }: IngestState,
  step: IngestStep,
  { cause }: Context,
  { log, clock }: DeferralDeps,
  work: () => Promise<IngestCommand>,
): Promise<IngestCommand> => {
  try {
    return await work()
  } catch (error) {
    if (isTransient(error) || cause?.signal.aborted) throw error
    const isErased = isAboutErased(error)
    if (isErased && (step === 'extracting' || picked !== undefined))
      return { type: 'FailIngest', step, reason: 'The person whom it is about was erased.' }
    const retry = { type: 'DeferIngest', step, retry_after: later(clock, record.attempt), isTry: true } as const
    // It was sent again by somebody who was erased at this moment: from now on it is about somebody new.
    if (isErased) return { ...retry, reason: 'The person whom it was about is being erased.' }
    log.error({ error, ingest_id: record.id, step }, 'ingest failed and is tried again')
    return { ...retry, reason: 'Something went wrong on our side.' }
  }
}
