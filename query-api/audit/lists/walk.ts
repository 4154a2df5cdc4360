import type { Kind } from '#domain/event-kinds.ts'
import { fromStored, NewerEvent, type EventOf, type EventShapes, type RecordedEvent } from '#domain/event.ts'
import { OwnError } from '#domain/own-error.ts'
import { ErasedEvent, UnreadableEvent } from '#infra/crypto/erased.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { cursorOf } from '#infra/http/cursor.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import type { EventRow } from '../asked.ts'
import { isKnownAt, type Moment } from '../as-of/moment.ts'
import { budget, readWhole, TooManyEvents } from '../as-of/related-events.ts'
import { searchEvents } from '../search.ts'
import type { AskedMoment } from './moment.ts'

/** Of an event in the list of all. */
export type Place = { readonly at: string; readonly position: string }

/** The past of an organisation up to a moment. */
export type Past = {
  readonly organisation_id: string
  readonly moment: AskedMoment
  readonly pool: Database
  readonly eventLog: Pick<EventLog, 'read'>
}

/** Some events, and where the list goes on behind them; undefined: they are the last. */
type Batch = { readonly rows: readonly EventRow[]; readonly after: Place | undefined }

export const placeInList = ({ recorded_at, position }: EventRow): Place => ({ at: recorded_at.toISOString(), position })

const batchSize = 100
const streamsAtOnce = 8

/** Events of these kinds, some at a time, as far as they are known at the moment, the newest first. */
export async function* candidatesOf(
  { organisation_id, moment, pool }: Past,
  kinds: readonly Kind[],
  from?: Place,
): AsyncGenerator<Batch> {
  const { known_at, position } = moment
  // Times are recorded to the millisecond.
  const recorded_until = known_at && new Date(Date.parse(known_at) + 1).toISOString()
  let place = from
  do {
    const cursor = place && cursorOf(['recorded_at', 'older', place.at, place.position])
    const asked = { organisation_id, kinds, recorded_until, limit: batchSize, cursor }
    const { rows, next_cursor } = await searchEvents(pool, asked)
    const last = next_cursor === null ? undefined : rows.at(-1)
    place = last && placeInList(last)
    yield { rows: rows.filter((row) => position === undefined || row.position <= position), after: place }
  } while (place !== undefined)
}

/** The events of some streams, as far as they are known at the moment. */
export const readStreams = async (
  past: Past,
  streams: Iterable<string>,
): Promise<ReadonlyMap<string, readonly RecordedEvent[]>> => {
  const { organisation_id, moment, eventLog } = past
  const isKnown = isKnownAt(moment)
  const wanted = [...new Set(streams)]
  const found = new Map<string, readonly RecordedEvent[]>()
  const left = budget()
  for (let from = 0; from < wanted.length; from += streamsAtOnce) {
    const some = wanted.slice(from, from + streamsAtOnce)
    const read = await Promise.all(some.map(async (stream) => readWhole(eventLog, stream, left)))
    for (const [place, stream] of some.entries())
      found.set(
        stream,
        (read[place] ?? []).filter((event) => event.metadata.organisation_id === organisation_id && isKnown(event)),
      )
  }
  return found
}

/** Of a record that cannot be read, although nobody has erased its person. */
export class Unread extends OwnError {
  override readonly name = 'Unread'
}

const whyUnread = (error: unknown): string | undefined => {
  if (error instanceof TooManyEvents) return 'It has more events, or longer ones, than can be looked at in one request.'
  return error instanceof NewerEvent || error instanceof UnreadableEvent || error instanceof Unread
    ? error.message
    : undefined
}

/** A record that a list may lack, by what stands for it in the list. */
export type UnreadRecord = { readonly record: string; readonly why: string }

/**
 * Makes something of some records together or, where one of them cannot be read or all are too much at once, of each alone: those that
 * cannot be read are named, and hold up no other.
 */
export const eachRead = async <One, Made>(
  ones: readonly One[],
  recordOf: (one: One) => string,
  make: (some: readonly One[]) => Promise<readonly Made[]>,
): Promise<{ readonly made: readonly (Made | undefined)[]; readonly unread: readonly UnreadRecord[] }> => {
  try {
    return { made: await make(ones), unread: [] }
  } catch (error) {
    if (whyUnread(error) === undefined) throw error
  }
  const unread: UnreadRecord[] = []
  const made: (Made | undefined)[] = []
  for (const one of ones)
    try {
      made.push(...(await make([one])))
    } catch (error) {
      const why = whyUnread(error)
      if (why === undefined) throw error
      unread.push({ record: recordOf(one), why })
      made.push(undefined)
    }
  return { made, unread }
}

export type Told<Shapes extends EventShapes> = {
  readonly event: EventOf<Shapes>
  readonly recorded: RecordedEvent
}

/**
 * These events of those that are told of, in their newest form. One that cannot be read, as its person was erased, is left out; where
 * one cannot be read for another reason, there is no row: without it, what was cancelled would be in force.
 */
export const toldBy = <Shapes extends EventShapes>(
  shapes: Shapes,
  events: readonly RecordedEvent[] = [],
  happened_at?: Moment['happened_at'],
): readonly Told<Shapes>[] => {
  const hasHappened = isKnownAt({ happened_at })
  return events.flatMap((recorded) => {
    if (!Object.hasOwn(shapes, recorded.type) || !hasHappened(recorded)) return []
    try {
      return [{ event: fromStored(shapes, recorded), recorded }]
    } catch (error) {
      if (error instanceof ErasedEvent) return []
      throw error
    }
  })
}

type Evolve<Shapes extends EventShapes, State> = (
  state: State | undefined,
  event: EventOf<Shapes>,
  recorded: RecordedEvent['metadata'],
) => State | undefined

/** A record as these events have left it. */
export const foldOf = <Shapes extends EventShapes, State>(
  told: readonly Told<Shapes>[],
  evolve: Evolve<Shapes, State>,
): State | undefined =>
  told.reduce<State | undefined>((state, { event, recorded }) => evolve(state, event, recorded.metadata), undefined)
