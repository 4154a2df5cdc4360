import { EventEmitter, once } from 'node:events'
import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js'
import type { Database, StoredEvent } from './database.ts'
import { caughtUpMessage, checkpointMessage, confirmationMessage, eventMessage } from './messages.ts'
import type { Send } from './reading.ts'

type Filter = { readonly passes: (event: StoredEvent) => boolean; readonly window: number; readonly interval: number }

/** A place in the transaction file. What is read after an event begins where it ends, with a prepare of 0. */
type Place = { readonly commit: number; readonly prepare: number }

/** What is sent to a live subscription, numbered so that a loss is noticed. */
type Live = { readonly number: number; readonly place: Place; readonly event?: StoredEvent }

const pageSize = 32
const liveBuffer = 32

/** Before every event. Sent as a checkpoint it wraps around to the greatest number, as in 24.10. */
const nowhere: Place = { commit: -1, prepare: -1 }

const isBefore = (one: Place, other: Place) =>
  one.commit < other.commit || (one.commit === other.commit && one.prepare < other.prepare)

const readCursor = ({ position }: StoredEvent): Place => ({ commit: position, prepare: position })

/**
 * A subscription to everything, as EventStoreDB 24.10 gives it: pages until the end of the log, then what is written from
 * then on, held in a small buffer. When a slow reader lets that run over, it goes back to reading pages, without a word.
 */
export const subscribing = async (
  database: Database,
  all: ReadReq.Options.AllOptions,
  options: ReadReq.Options.FilterOptions | undefined,
  send: Send,
  signal: AbortSignal,
): Promise<void> => {
  const filter = options && filterOf(options)
  const live = listen(database, filter)
  signal.addEventListener('abort', live.stop)
  const last = database.all.at(-1)
  const confirmed = last ? readCursor(last) : nowhere
  await send(confirmationMessage())

  const sendCheckpoint = checkpoints(filter, send)
  let checkpoint = startOf(all, confirmed)
  let number = 0
  let isLive = !isBefore(checkpoint, confirmed)
  while (!signal.aborted) {
    if (!isLive) checkpoint = await catchUp(database, checkpoint, filter, send, sendCheckpoint)
    await send(caughtUpMessage())
    isLive = true
    while (isLive) {
      const notice = await live.next(signal)
      isLive = notice.number === number + 1
      number = notice.number
      const isOld = notice.event ? !isBefore(checkpoint, notice.place) : isBefore(notice.place, checkpoint)
      if (isOld) isLive = true
      else if (!isLive) await sendCheckpoint(checkpoint)
      else {
        await (notice.event ? send(eventMessage(notice.event)) : sendCheckpoint(notice.place))
        checkpoint = notice.place
      }
    }
  }
}

const startOf = (all: ReadReq.Options.AllOptions, end: Place): Place => {
  const position = all.getPosition()
  if (!position) return all.hasEnd() ? end : nowhere
  return { commit: Number(position.getCommitPosition()), prepare: Number(position.getPreparePosition()) }
}

/** Sends checkpoints of a filtered subscription, and none that is not beyond the last. */
const checkpoints = (filter: Filter | undefined, send: Send) => {
  let last = nowhere
  const unsigned = (position: number) => BigInt.asUintN(64, BigInt(position))
  return async (place: Place) => {
    if (!filter || (last !== nowhere && !isBefore(last, place))) return
    last = place === nowhere ? { commit: Infinity, prepare: Infinity } : place
    await send(checkpointMessage(String(unsigned(place.commit)), String(unsigned(place.prepare))))
  }
}

/** The checkpoint is at most the beginning of a page: after the last one it is before the last events that were left out. */
const catchUp = async (
  database: Database,
  from: Place,
  filter: Filter | undefined,
  send: Send,
  sendCheckpoint: (place: Place) => Promise<void>,
) => {
  const { passes = () => true, window = Infinity, interval = Infinity } = filter ?? {}
  let checkpoint = from
  let pageStart = from
  let index = database.indexAt(Math.max(from.commit, 0))
  let considered = 0
  for (;;) {
    const end = index + window
    let event: StoredEvent | undefined
    let found = 0
    while (index < end && found < pageSize && (event = database.all[index])) {
      index += 1
      considered += 1
      if (!passes(event)) continue
      found += 1
      if (!isBefore(checkpoint, readCursor(event))) continue
      await send(eventMessage(event))
      checkpoint = readCursor(event)
    }
    if (!event) {
      await sendCheckpoint(checkpoint)
      return checkpoint
    }
    if (considered >= interval) {
      considered %= interval
      if (isBefore(checkpoint, pageStart)) checkpoint = pageStart
      await sendCheckpoint(checkpoint)
    }
    pageStart = { commit: event.end, prepare: 0 }
  }
}

const filterOf = (options: ReadReq.Options.FilterOptions): Filter => {
  const expression = options.getStreamIdentifier() ?? options.getEventType()
  const regex = expression?.getRegex() ? new RegExp(expression.getRegex()) : undefined
  const prefixes = expression?.getPrefixList() ?? []
  const matches = (text: string) => regex?.test(text) ?? prefixes.some((prefix) => text.startsWith(prefix))
  const window = options.hasMax() ? options.getMax() : pageSize
  return {
    passes: ({ stream, type }) => matches(options.hasStreamIdentifier() ? stream : type),
    window,
    interval: window * options.getCheckpointintervalmultiplier(),
  }
}

const listen = (database: Database, filter: Filter | undefined) => {
  const buffer: Live[] = []
  const bell = new EventEmitter()
  let number = 0
  let considered = 0

  const notify = (place: Place, event?: StoredEvent) => {
    number += 1
    buffer.push({ number, place, ...(event && { event }) })
    if (buffer.length > liveBuffer) buffer.shift()
    bell.emit('notice')
  }
  const stop = database.watch((event) => {
    if (filter?.passes(event) ?? true) notify(readCursor(event), event)
    considered += 1
    if (!filter || considered < filter.interval) return
    considered = 0
    notify(readCursor(event))
  })
  const next = async (signal: AbortSignal) => {
    for (;;) {
      const notice = buffer.shift()
      if (notice) return notice
      await once(bell, 'notice', { signal })
    }
  }
  return { next, stop }
}
