import {
  BACKWARDS,
  END,
  START,
  StreamNotFoundError,
  type AllStreamResolvedEvent,
  type EventStoreDBClient,
  type ReadAllOptions,
  type ResolvedEvent,
  type StreamingRead,
} from '@eventstore/db-client'
import type { Position, RecordedEvent } from '#domain/event.ts'
import { isSystemEvent, placeOf, positionOf, toRecorded } from './events.ts'
import { retryTransient } from './retry.ts'
import type { EventLog, WholePage } from '../event-log.ts'

export const reader = (client: EventStoreDBClient): Pick<EventLog, 'read' | 'readAll' | 'head'> => ({
  read: (stream, { from, direction = 'forwards', limit = 1_000 } = {}) =>
    retryTransient(async () => {
      if (limit < 1) return []
      const first = direction === 'forwards' ? START : END
      const fromRevision = from === undefined ? first : BigInt(from)
      try {
        const events: RecordedEvent[] = []
        for await (const { event } of eventsOf(client.readStream(stream, { direction, fromRevision, maxCount: limit })))
          if (event) events.push(toRecorded(event))
        return events
      } catch (error) {
        if (error instanceof StreamNotFoundError) return []
        throw error
      }
    }),

  readAll: ({ beyond, direction = 'forwards', limit = 1_000 } = {}) =>
    retryTransient(async () => {
      const events: RecordedEvent[] = []
      if (limit < 1) return events
      for await (const { event } of eventsOf(
        client.readAll({ direction, fromPosition: placeBeyond(beyond, direction) }),
      )) {
        // Forwards the server begins with the event at the position itself.
        if (!event || isSystemEvent(event) || positionOf(event) === beyond) continue
        if (events.push(toRecorded(event)) === limit) break
      }
      return events
    }),

  head: () =>
    retryTransient(async () => {
      // Nearly always the last event is one of ours. A longer read brings many events before it can be stopped.
      for (const pageSize of [{ maxCount: 1 }, {}] satisfies ReadAllOptions[])
        for await (const { event } of eventsOf(
          client.readAll({ ...pageSize, direction: BACKWARDS, fromPosition: END }),
        ))
          if (event && !isSystemEvent(event)) return positionOf(event)
      return undefined
    }),
})

/** The last position before the next event that is wanted, as far as the next few events go. */
export const pastUnwanted = async (
  client: EventStoreDBClient,
  from: Position,
  isWanted: (event: NonNullable<AllStreamResolvedEvent['event']>) => boolean,
): Promise<Position> => {
  let position = from
  for await (const { event } of eventsOf(client.readAll({ fromPosition: placeOf(from), maxCount: 16 }))) {
    if (!event || positionOf(event) <= from) continue
    if (isWanted(event)) break
    position = positionOf(event)
  }
  return position
}

const placeBeyond = (position: Position | undefined, direction: NonNullable<WholePage['direction']>) => {
  if (position === undefined) return direction === 'forwards' ? START : END
  const { commit, prepare } = placeOf(position)
  // A checkpoint may lie between two events, with no prepare. From there the server would leave out the event before.
  return { commit, prepare: direction === 'backwards' && prepare === 0n ? commit : prepare }
}

/** The events of a read, which is cancelled when no more of them are wanted. */
async function* eventsOf<Event extends ResolvedEvent>(reading: StreamingRead<Event>): AsyncGenerator<Event> {
  // The client tells of errors even when nobody reads any more, and unheard ones would end the process.
  reading.on('error', () => undefined)
  try {
    yield* reading.iterator({ destroyOnReturn: false }) as AsyncIterable<Event>
  } finally {
    // To its very end: the client keeps hold of a call whose end nobody reads.
    reading.cancel().catch(() => undefined)
    reading.resume()
  }
}
