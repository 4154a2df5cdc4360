import { z } from 'zod'
import { categoryOf, idOf, type Json, type RecordedEvent } from '#domain/event.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { cursorOf, readCursorAs } from '#infra/http/cursor.ts'
import { withoutSecrets } from '../event.ts'
import { foldOf } from '../folds.ts'
import { exportedOf, type Asked, type ExportedEvent, type ExportedRecord } from './exported.ts'

export type ExportPage = {
  readonly data: ExportedEvent[]
  readonly records: ExportedRecord[]
  readonly next_cursor: string | null
}

const Place = z.tuple([z.string(), z.string().regex(/^\d{1,9}$/)])

const readTogether = 200
// An event can change some megabytes.
const mostBytes = 8_000_000

/**
 * A page of what is held on a person, record by record, each with its events from the first to the last and, beside the last,
 * what stands in it now. A record is read from its beginning for each page of it, so that no more than one page is ever in memory.
 */
export const pageOfExport = async (
  eventLog: Pick<EventLog, 'read'>,
  asked: Asked,
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
): Promise<ExportPage> => {
  const [from, after] = cursor === undefined ? ['', '-1'] : readCursorAs(cursor, Place)
  const data: ExportedEvent[] = []
  const records: ExportedRecord[] = []
  let bytes = 0
  let last: ExportedEvent | undefined
  for (const stream of asked.held.streams) {
    if (stream < from) continue
    const passed = stream === from ? Number(after) : -1
    let state: Json | null = {}
    let isAnyShown = false
    for await (const recorded of eventsOf(eventLog, stream, asked.organisation_id)) {
      const { event, told } = exportedOf(recorded, asked)
      state = folded(state, told, recorded)
      if (recorded.revision <= passed) continue
      if (last && (data.length === limit || bytes > mostBytes)) return { data, records, next_cursor: cursorAt(last) }
      bytes += JSON.stringify(event).length
      data.push(event)
      last = event
      isAnyShown = true
    }
    if (isAnyShown) records.push({ record: { type: categoryOf(stream), id: idOf(stream) }, state: shownState(state) })
  }
  return { data, records, next_cursor: null }
}

const cursorAt = ({ record, revision }: ExportedEvent): string =>
  cursorOf([`${record.type}-${record.id}`, String(revision)])

/** The events of a record, as long as they are this organisation's. */
const eventsOf = async function* (
  eventLog: Pick<EventLog, 'read'>,
  stream: string,
  organisation_id: string,
): AsyncGenerator<RecordedEvent> {
  for (let from = 0; ; from += readTogether) {
    const page = await eventLog.read(stream, { from, limit: readTogether })
    for (const recorded of page) {
      if (recorded.metadata.organisation_id !== organisation_id) return
      yield recorded
    }
    if (page.length < readTogether) return
  }
}

/** A fold refuses what it cannot follow, such as a record whose beginning is another person's. */
const folded = (
  state: Json | null,
  told: ReturnType<typeof exportedOf>['told'],
  { stream, metadata }: RecordedEvent,
): Json | null => {
  if (!state || !told) return null
  try {
    return foldOf(categoryOf(stream))(state, told, metadata)
  } catch {
    return null
  }
}

const shownState = (state: Json | null): Json | null => state && (withoutSecrets(state) as Json) // as it holds what the state held
