import { once } from 'node:events'
import { status, type handleServerStreamingCall, type ServerWritableStream } from '@grpc/grpc-js'
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import { accessDenied, type Behaviour, type OpenSubscription, type Refusal } from './behaviour.ts'
import type { Database, StoredEvent } from './database.ts'
import { eventMessage, nameIn, notFoundMessage } from './messages.ts'
import { subscribing } from './subscribing.ts'

/** Sends a message, and waits while the reader is slower than we are. */
export type Send = (message: ReadResp) => Promise<void>

type Call = ServerWritableStream<ReadReq, ReadResp>

/** A page of a stream or of everything, or a subscription to everything. */
export const reading =
  (database: Database, behaviour: Behaviour): handleServerStreamingCall<ReadReq, ReadResp> =>
  (call) => {
    const options = call.request.getOptions()
    const isRefused = options?.hasAll() && behaviour.user?.readsAll === false
    if (isRefused) return void call.emit('error', accessDenied)
    const fail = (refusal: Refusal) => void call.emit('error', refusal)
    const subscription: OpenSubscription = { isMuted: false, end: fail }
    if (options?.hasSubscription()) behaviour.subscriptions.add(subscription)
    const abandoned = new AbortController()
    for (const event of ['cancelled', 'close', 'error'])
      call.on(event, () => {
        abandoned.abort()
        behaviour.subscriptions.delete(subscription)
      })
    const send: Send = async (message) => {
      abandoned.signal.throwIfAborted()
      if (subscription.isMuted) return
      behaviour.messagesSent += 1
      if (!call.write(message)) await once(call, 'drain', { signal: abandoned.signal })
    }
    read(database, call, send, abandoned.signal).then(
      () => call.end(),
      (error: unknown) => {
        if (abandoned.signal.aborted) return
        const details = error instanceof Error ? error.message : 'Exception was thrown by handler.'
        fail({ code: error instanceof RangeError ? status.INVALID_ARGUMENT : status.UNKNOWN, details })
      },
    )
  }

const read = async (database: Database, { request }: Call, send: Send, signal: AbortSignal) => {
  const options = request.getOptions()
  const stream = options?.getStream()
  const all = options?.getAll()
  const position = all?.getPosition()
  if (position && !database.isPlace(Number(position.getCommitPosition())))
    throw new RangeError('Trying to read from an invalid position.')

  if (stream && options?.hasCount()) {
    const name = nameIn(stream.getStreamIdentifier())
    const events = database.stream(name)
    if (events.length === 0) return send(notFoundMessage(name))
    const from = stream.hasEnd() ? Infinity : stream.hasStart() ? 0 : Number(stream.getRevision())
    const isForwards = options.getReadDirection() === 0
    return sendPage(isForwards ? from : Math.min(from, events.length - 1), events, options, send)
  }
  if (all && options?.hasCount()) return sendPage(firstOf(database, options, all), database.all, options, send)
  if (all && options?.hasSubscription()) return subscribing(database, all, options.getFilter(), send, signal)
  throw new RangeError('The combination is invalid.')
}

/** Forwards a page begins with the event at its position; backwards with the one that ends there, or before. */
const firstOf = (database: Database, options: ReadReq.Options, all: ReadReq.Options.AllOptions) => {
  const isForwards = options.getReadDirection() === 0
  if (all.hasStart()) return isForwards ? 0 : -1
  if (all.hasEnd()) return database.all.length - (isForwards ? 0 : 1)
  const commit = Number(all.getPosition()?.getCommitPosition())
  const index = database.indexAt(commit)
  if (isForwards) return index
  const isBetween = Number(all.getPosition()?.getPreparePosition()) < commit
  return isBetween && database.all[index - 1]?.end === commit ? index - 2 : index - 1
}

const sendPage = async (from: number, events: readonly StoredEvent[], options: ReadReq.Options, send: Send) => {
  const step = options.getReadDirection() === 0 ? 1 : -1
  for (let index = from, left = Number(options.getCount()); left > 0; index += step, left -= 1) {
    const event = events[index]
    if (!event) return
    await send(eventMessage(event))
  }
}
