import { setTimeout as pause } from 'node:timers/promises'
import type { IngestId, OrganisationId } from '#domain/values.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { Problem } from '#infra/http/problem.ts'

type Deps = {
  /** As it is stored: nothing personal is asked of it. */
  readonly log: Pick<EventLog, 'read'>
  /** Time limit for a received lead to be shown. */
  readonly withinMs: number
}

const firstPauseMs = 5
const longestPauseMs = 100

/**
 * Looks an ingest up in the read model. A sender has its 202 before the lead is shown there, so whoever asks for one that
 * was received and is not shown yet waits; only the log tells it from one that there is not.
 */
export const makeFindReceived =
  ({ log, withinMs }: Deps) =>
  async <Row>(
    organisation_id: OrganisationId,
    id: IngestId,
    find: () => Promise<Row | undefined>,
  ): Promise<Row | undefined> => {
    const shown = await find()
    if (shown) return shown
    const [first] = await log.read(`ingest-${id}`, { limit: 1 })
    if (first?.type !== 'IngestReceived' || first.metadata.organisation_id !== organisation_id) return undefined
    const deadline = performance.now() + withinMs
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      const found = await find()
      if (found) return found
      const leftMs = deadline - performance.now()
      if (leftMs <= 0)
        throw new Problem('unavailable', 'The lead was received and cannot be read yet. Send the request again.')
      await pause(Math.min(pauseMs, leftMs))
    }
  }

export type FindReceived = ReturnType<typeof makeFindReceived>
