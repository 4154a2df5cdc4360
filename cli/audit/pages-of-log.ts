import type { Position, RecordedEvent } from '#domain/event.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'

const eventsAtOnce = 1_000

/** All events of the log, as they are stored, up to where it ends now. */
export async function* pagesOfLog(log: Pick<EventLog, 'readAll' | 'head'>): AsyncGenerator<readonly RecordedEvent[]> {
  const head = await log.head()
  let reached: Position | undefined
  while (head !== undefined && (reached === undefined || reached < head)) {
    const page = await log.readAll({ ...(reached !== undefined && { beyond: reached }), limit: eventsAtOnce })
    const last = page.at(-1)
    if (!last) return
    reached = last.position
    yield page
  }
}
