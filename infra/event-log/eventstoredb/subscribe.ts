import { addAbortSignal, type ReadableOptions } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import {
  eventTypeFilter,
  streamNameFilter,
  type AllStreamResolvedEvent,
  type AllStreamSubscription,
  type EventStoreDBClient,
  type Filter,
  type Position as ClientPosition,
} from '@eventstore/db-client'
import { categoryOf, type Position, type RecordedEvent } from '#domain/event.ts'
import type { Batch, Subscription } from '../event-log.ts'
import type { Calls, Limits } from './calls.ts'
import type { Connection } from './connection.ts'
import { beginning, isSystemEvent, commitPositionOf, positionOf, toPosition, toRecorded } from './events.ts'
import { settlesWithin } from '../../timeout.ts'
import { delayAfter, isRefusal, isTransient, NoAnswer } from './failures.ts'
import type { Outages } from './outages.ts'
import { pastUnwanted } from './read.ts'

/** The events that the server looks through before it reports its progress: a message more for so many events. */
const searchWindow = 256

/** The times in a row that the log may hold a next event that a silent subscription does not bring. */
const silencesMaximum = 3

const reconnectDelayMaximumMs = 1_000

type Event = NonNullable<AllStreamResolvedEvent['event']>

/** Items in the order of arrival: events, and among them the server's reports of its progress. */
type Item = AllStreamResolvedEvent | { readonly checkpoint: Position } | { readonly isCaughtUp: true }

type Log = {
  readonly connection: Connection
  readonly calls: Pick<Calls, 'worked' | 'checkSettings'>
  readonly outages: Pick<Outages, 'source'>
  readonly limits: Limits
}

/** Follows the log without end: after a failure of any length it continues at its position. */
export async function* subscribeTo(log: Log, subscription: Subscription): AsyncGenerator<Batch> {
  const { connection, calls, outages } = log
  const { signal } = subscription
  const isOver = () => signal.aborted
  const outage = outages.source()
  let position = subscription.after ?? beginning
  let hasCaughtUp = false
  let failures = 0

  try {
    while (!isOver()) {
      const channel = connection.channel()
      try {
        for await (const batch of follow(log, subscription, position)) {
          const isNews = batch.events.length > 0 || batch.position > position || (batch.caughtUp && !hasCaughtUp)
          position = batch.position
          failures = 0
          outage.succeeded()
          calls.worked('all')
          if (!isNews) continue
          hasCaughtUp = batch.caughtUp
          yield batch
        }
      } catch (error) {
        if (isOver()) return
        if (!isTransient(error) && !isRefusal(error)) throw error
        await calls.checkSettings('all', error)
        connection.leave(channel, error, Date.now() - log.limits.attemptMs)
        outage.failed(error)
        failures += 1
        await pause(delayAfter(failures, reconnectDelayMaximumMs), undefined, { signal }).catch(() => undefined)
      }
    }
  } finally {
    outage.succeeded()
  }
}

/** One subscription, until it fails. It is cancelled when its reader has had enough. */
async function* follow(
  { connection: { client }, limits }: Log,
  { categories, types, batchSize = 1_000, signal }: Subscription,
  from: Position,
): AsyncGenerator<Batch> {
  const subscription = open(client, filterOf(categories, types), from, batchSize)
  addAbortSignal(signal, subscription)
  const isWanted = ({ streamId, type }: Event) =>
    (categories?.includes(categoryOf(streamId)) ?? true) &&
    (types?.includes(type) ?? true) &&
    !isSystemEvent({ streamId, type })
  let position = from
  let events: RecordedEvent[] = []
  let taken = 0
  let isLive = false
  let silences = 0

  const batchUntil = (caughtUp: boolean): Batch => {
    const batch = { events, position, caughtUp }
    events = []
    taken = 0
    return batch
  }
  /**
   * Events that the filter leaves out are reported only every so many events, and a lost connection not at all. So whenever
   * the server has been silent for a while, the next events are read: past those that are not wanted, up to one that is.
   */
  const look = async () => {
    const { position: reached, isWantedNext } = await pastUnwanted(client, position, isWanted, limits)
    position = reached
    return isWantedNext
  }

  // `open` adds the other items to the events, so the type is cast.
  const items = (subscription as AsyncIterable<Item>)[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = items.next()
      next.catch(() => undefined)
      while (!(await settlesWithin(next, limits.silenceMs))) {
        const before = position
        silences = (await look()) ? silences + 1 : 0
        if (silences >= silencesMaximum) throw new NoAnswer('the server holds events that it does not send')
        if (position > before || events.length > 0) yield batchUntil(isLive)
      }
      silences = 0
      const result = await next
      if (result.done) break
      const item = result.value

      taken += 1
      if ('isCaughtUp' in item) {
        // A server that falls behind its own writers says so more than once.
        if (!isLive) await look()
        isLive = true
      } else if ('checkpoint' in item) position = later(position, item.checkpoint)
      else if (item.event) {
        position = later(position, positionOf(item.event))
        if (isWanted(item.event)) events.push(toRecorded(item.event))
      }

      const isDrained = subscription.readableLength === 0
      // While catching up more is on its way, at the latest the word that all has been read: a partial batch waits.
      if (taken >= batchSize || (isLive && isDrained)) yield batchUntil(isLive && isDrained)
    }
  } finally {
    subscription.unsubscribe().catch(() => undefined)
    subscription.destroy()
  }
  throw new NoAnswer('the server ended the subscription')
}

const later = (one: Position, other: Position) => (one > other ? one : other)

const open = (
  client: EventStoreDBClient,
  filter: (progress: Progress) => Filter,
  from: Position,
  batchSize: number,
): AllStreamSubscription => {
  const checkpointReached = (subscription: AllStreamSubscription, reached: ClientPosition) => {
    subscription.push({ checkpoint: toPosition(reached) } satisfies Item)
  }
  // The client makes a transform of these, of which the reading side alone is to hold a batch, so the type is cast.
  const buffer = { readableHighWaterMark: batchSize, writableHighWaterMark: 1 } as ReadableOptions
  const subscription = client.subscribeToAll(
    {
      // From a position, never from the start: a 24.10 that starts there calls the greatest position a checkpoint.
      fromPosition: commitPositionOf(from),
      filter: filter({ maxSearchWindow: searchWindow, checkpointInterval: 1, checkpointReached }),
      requiresLeader: true,
    },
    buffer,
  )
  subscription.on('caughtUp', () => subscription.push({ isCaughtUp: true } satisfies Item))
  // The client emits errors even after reading has stopped, and an error without a listener would end the process.
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
