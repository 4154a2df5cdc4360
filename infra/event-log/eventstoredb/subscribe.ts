import { addAbortSignal, type ReadableOptions } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import {
  eventTypeFilter,
  streamNameFilter,
  type AllStreamResolvedEvent,
  type AllStreamSubscription,
  type EventStoreDBClient,
  type Filter,
  type Position as Place,
} from '@eventstore/db-client'
import { categoryOf, type Position, type RecordedEvent } from '#domain/event.ts'
import type { Batch, Subscription } from '../event-log.ts'
import { beginning, isSystemEvent, placeOf, positionOf, toPosition, toRecorded } from './events.ts'
import { pastUnwanted } from './read.ts'
import { delayAfter, isTransient } from './retry.ts'

/**
 * How many events the server looks through before it says how far it is. Few rounds while there is much to catch up on;
 * afterwards one at a time, so that the position moves at once past an event that the filter leaves out.
 */
const windows = { catchingUp: 256, live: 1 }

type Event = NonNullable<AllStreamResolvedEvent['event']>

type Window = keyof typeof windows

/** What arrives, in its order: events, and among them what the server says of its progress. */
type Item = AllStreamResolvedEvent | { readonly checkpoint: Position } | { readonly isCaughtUp: true }

export async function* subscribeTo(client: EventStoreDBClient, subscription: Subscription): AsyncGenerator<Batch> {
  const { signal } = subscription
  const isOver = () => signal.aborted
  let position = subscription.after ?? beginning
  let window: Window = 'catchingUp'
  let hasCaughtUp = false
  let failures = 0

  while (!isOver()) {
    try {
      for await (const batch of follow(client, subscription, position, window)) {
        const isNews = batch.events.length > 0 || batch.position > position || (batch.caughtUp && !hasCaughtUp)
        position = batch.position
        hasCaughtUp ||= batch.caughtUp
        failures = 0
        if (isNews) yield batch
      }
      window = window === 'live' ? 'catchingUp' : 'live'
    } catch (error) {
      if (!isOver() && !isTransient(error)) throw error
      window = 'catchingUp'
      failures += 1
      await pause(delayAfter(failures), undefined, { signal }).catch(() => undefined)
    }
  }
}

/** One subscription, until the other window suits better. It is cancelled when its reader has had enough. */
async function* follow(
  client: EventStoreDBClient,
  { categories, types, batchSize = 1_000, signal }: Subscription,
  from: Position,
  window: Window,
): AsyncGenerator<Batch> {
  const subscription = open(client, filterOf(categories, types), from, window, batchSize)
  addAbortSignal(signal, subscription)
  const isWanted = ({ streamId, type }: Event) =>
    (categories?.includes(categoryOf(streamId)) ?? true) &&
    (types?.includes(type) ?? true) &&
    !isSystemEvent({ streamId, type })
  let position = from
  let events: RecordedEvent[] = []
  let taken = 0
  let isLive = false

  try {
    // `open` puts the other items among the events, hence the cast.
    for await (const item of subscription as AsyncIterable<Item>) {
      taken += 1
      if ('isCaughtUp' in item) {
        isLive = true
        // The last events that the filter leaves out are never told of, if they were there before.
        if (window === 'live') position = await pastUnwanted(client, position, isWanted)
      } else if ('checkpoint' in item) position = later(position, item.checkpoint)
      else if (item.event) {
        position = later(position, positionOf(item.event))
        if (isWanted(item.event)) events.push(toRecorded(item.event))
      }

      const isFull = taken >= batchSize
      const isDrained = subscription.readableLength === 0
      // While catching up more is on its way, at the latest the word that all has been read: a partial batch waits.
      if (!isFull && !(isLive && isDrained)) continue
      const caughtUp = isLive && isDrained
      yield { events, position, caughtUp }
      if (window === 'catchingUp' ? caughtUp : isFull) return
      events = []
      taken = 0
    }
  } finally {
    subscription.unsubscribe().catch(() => undefined)
  }
  throw new Error('The server ended the subscription.')
}

const later = (one: Position, other: Position) => (one > other ? one : other)

const open = (
  client: EventStoreDBClient,
  filter: (progress: Progress) => Filter,
  from: Position,
  window: Window,
  batchSize: number,
): AllStreamSubscription => {
  const checkpointReached = (subscription: AllStreamSubscription, place: Place) => {
    subscription.push({ checkpoint: toPosition(place) } satisfies Item)
  }
  // The client makes a transform of these, of which the reading side alone is to hold a batch: hence the cast.
  const buffer = { readableHighWaterMark: batchSize, writableHighWaterMark: 1 } as ReadableOptions
  // From a position, never from the start: a 24.10 that starts there calls the greatest position a checkpoint.
  const subscription = client.subscribeToAll(
    {
      fromPosition: placeOf(from),
      filter: filter({ maxSearchWindow: windows[window], checkpointInterval: 1, checkpointReached }),
    },
    buffer,
  )
  subscription.on('caughtUp', () => subscription.push({ isCaughtUp: true } satisfies Item))
  // The client tells of errors even when nobody reads any more, and unheard ones would end the process.
  subscription.on('error', () => undefined)
  return subscription
}

type Progress = Pick<Filter, 'maxSearchWindow' | 'checkpointInterval' | 'checkpointReached'>

const filterOf =
  (categories: readonly string[] | undefined, types: readonly string[] | undefined) => (progress: Progress) => {
    if (categories) return streamNameFilter({ ...progress, regex: `^(?:${categories.map(literal).join('|')})-` })
    if (types) return eventTypeFilter({ ...progress, regex: `^(?:${types.map(literal).join('|')})$` })
    return streamNameFilter({ ...progress, regex: '^[^$]' })
  }

/**
 * A regular expression for exactly this text. The server's own prefix filter compares by the rules of a language, in which
 * a letter and an accent that follows it are one.
 */
const literal = (text: string) =>
  text.replaceAll(/[^a-z0-9]/gi, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
