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
import type { EventLog, WholePage } from '../event-log.ts'
import type { Calls, Limits } from './calls.ts'
import { isSystemEvent, commitPositionOf, positionOf, toRecorded } from './events.ts'
import { NoAnswer } from './failures.ts'

/** A follower may not yet have what was just appended. */
const requiresLeader = true

export const reader = (
  client: EventStoreDBClient,
  { call }: Pick<Calls, 'call'>,
  limits: Limits,
): Pick<EventLog, 'read' | 'readAll' | 'head' | 'end'> => ({
  read: async (stream, { from, direction = 'forwards', limit = 1_000 } = {}) => {
    if (limit < 1) return []
    const first = direction === 'forwards' ? START : END
    const fromRevision = from === undefined ? first : BigInt(from)
    return call('read', async () => {
      try {
        const events: RecordedEvent[] = []
        const reading = client.readStream(stream, { direction, fromRevision, maxCount: limit, requiresLeader })
        for await (const { event } of eventsOf(reading, limits)) if (event) events.push(toRecorded(event))
        return events
      } catch (error) {
        if (error instanceof StreamNotFoundError) return []
        throw error
      }
    })
  },

  readAll: async ({ beyond, direction = 'forwards', limit = 1_000 } = {}) => {
    if (limit < 1) return []
    const fromPosition = placeBeyond(beyond, direction)
    return call('all', async () => {
      const events: RecordedEvent[] = []
      for await (const { event } of eventsOf(client.readAll({ direction, fromPosition, requiresLeader }), limits)) {
        // Forwards the server begins with the event at the position itself.
        if (!event || isSystemEvent(event) || positionOf(event) === beyond) continue
        if (events.push(toRecorded(event)) === limit) break
      }
      return events
    })
  },

  head: () => call('all', () => lastOf(client, limits, (event) => !isSystemEvent(event))),
  end: () => call('all', () => lastOf(client, limits, () => true)),
})

type Event = NonNullable<AllStreamResolvedEvent['event']>

/** The last event that is wanted: nearly always the last of all. A longer read brings many before it can be stopped. */
const lastOf = async (client: EventStoreDBClient, limits: Limits, isWanted: (event: Event) => boolean) => {
  for (const pageSize of [{ maxCount: 1 }, {}] satisfies ReadAllOptions[]) {
    const reading = client.readAll({ ...pageSize, direction: BACKWARDS, fromPosition: END, requiresLeader })
    for await (const { event } of eventsOf(reading, limits)) if (event && isWanted(event)) return positionOf(event)
  }
  return undefined
}

/** Events that are looked through in one read for the next that is wanted, and reads at a time. */
const lookAhead = { events: 32, reads: 16 }

/** The last position before the next event that is wanted, and whether there is one, as far as the next events go. */
export const pastUnwanted = async (
  client: EventStoreDBClient,
  from: Position,
  isWanted: (event: Event) => boolean,
  limits: Limits,
): Promise<{ readonly position: Position; readonly isWantedNext: boolean }> => {
  let position = from
  for (let reads = 0; reads < lookAhead.reads; reads += 1) {
    const before = position
    let count = 0
    const page = { fromPosition: commitPositionOf(before), maxCount: lookAhead.events, requiresLeader }
    for await (const { event } of eventsOf(client.readAll(page), limits)) {
      count += 1
      if (!event || positionOf(event) <= before) continue
      if (isWanted(event)) return { position, isWantedNext: true }
      position = positionOf(event)
    }
    if (count < lookAhead.events) break
  }
  return { position, isWantedNext: false }
}

const placeBeyond = (position: Position | undefined, direction: NonNullable<WholePage['direction']>) => {
  if (position === undefined) return direction === 'forwards' ? START : END
  const { commit, prepare } = commitPositionOf(position)
  // A checkpoint may lie between two events, with no prepare. From there the server would leave out the event before.
  return { commit, prepare: direction === 'backwards' && prepare === 0n ? commit : prepare }
}

/** The events of a read, which is cancelled when no more of them are wanted, or the next one is too late. */
async function* eventsOf<Event extends ResolvedEvent>(
  reading: StreamingRead<Event>,
  { attemptMs, wholeMs }: Limits,
): AsyncGenerator<Event> {
  // The client emits errors even after reading has stopped, and an error without a listener would end the process.
  reading.on('error', () => undefined)
  const giveUp = (milliseconds: number) => reading.destroy(new NoAnswer(`a read had no answer in ${milliseconds} ms`))
  const silence = setTimeout(giveUp, attemptMs, attemptMs)
  const whole = setTimeout(giveUp, wholeMs, wholeMs)
  try {
    for await (const event of reading.iterator({ destroyOnReturn: false }) as AsyncIterable<Event>) {
      silence.refresh()
      yield event
    }
  } finally {
    clearTimeout(silence)
    clearTimeout(whole)
    // Read to the end: the client keeps a reference to a call until its end was read.
    reading.cancel().catch(() => undefined)
    reading.resume()
  }
}
