import {
  EventStoreDBClient,
  WrongExpectedVersionError,
  type AppendExpectedRevision,
  type AppendResult as Appended,
} from '@eventstore/db-client'
import type { NewEvent } from '#domain/event.ts'
import { measure, toPosition, toProposed } from './events.ts'
import { reader } from './read.ts'
import { isTransient, retryTransient } from './retry.ts'
import { readConnectionString } from './settings.ts'
import { subscribeTo } from './subscribe.ts'
import { outageWatch } from '../outage.ts'
import { checkStreamName, type AppendResult, type EventLog, type ExpectedRevision } from '../event-log.ts'

/**
 * The log in EventStoreDB (23.10 or later) or KurrentDB. A position is the place of an event in its transaction file.
 *
 * A repeated append is the server's own affair: with an exact expectation it compares the ids at that place of the stream,
 * however late; with `any` it knows the ids of the recent past. So an append whose outcome was lost is simply done again.
 */
export const eventStoreDbLog = (connectionString: string): EventLog => {
  const client = connect(connectionString)
  const closing = new AbortController()
  const { read, readAll, head } = reader(client)
  // Only reads are seen here so far: a subscription that is lost while nobody reads is not.
  const { failed, succeeded, current } = outageWatch()
  const watched = async <Result>(reading: Promise<Result>): Promise<Result> => {
    try {
      const result = await reading
      succeeded()
      return result
    } catch (error) {
      if (isTransient(error)) failed(error)
      throw error
    }
  }

  const append = async (
    stream: string,
    expected: ExpectedRevision,
    events: readonly NewEvent[],
  ): Promise<AppendResult> => {
    check(stream, events)
    const proposed = events.map(toProposed)
    const expectedRevision = typeof expected === 'number' ? BigInt(expected) : expected
    try {
      const appended = await retryTransient(() => client.appendToStream(stream, proposed, { expectedRevision }))
      // With throwOnAppendFailure=false in the connection string the client does not throw.
      if (!appended.success) return conflict(appended.nextExpectedRevision)
      return { outcome: 'appended', ...(await placeOfLast(stream, appended)) }
    } catch (error) {
      if (error instanceof WrongExpectedVersionError) return conflict(error.actualVersion)
      throw error
    }
  }

  const placeOfLast = async (stream: string, { nextExpectedRevision, position }: Appended) => {
    const revision = Number(nextExpectedRevision)
    if (position) return { revision, position: toPosition(position) }
    // A repeat may be acknowledged without its position.
    const [last] = await read(stream, { from: revision, limit: 1 })
    if (!last) throw new Error(`${stream} has no revision ${revision} although it was appended.`)
    return { revision, position: last.position }
  }

  return {
    append,
    read: (...page) => watched(read(...page)),
    readAll: (...page) => watched(readAll(...page)),
    subscribe: (subscription) =>
      subscribeTo(client, { ...subscription, signal: AbortSignal.any([subscription.signal, closing.signal]) }),
    head: () => watched(head()),
    measure,
    outage: current,
    // What else is under way may finish. The client cannot close its connection, but an idle one keeps no process alive.
    close: () => Promise.resolve(closing.abort()),
  }
}

const connect = (connectionString: string) => {
  readConnectionString(connectionString)
  const client = EventStoreDBClient.connectionString(connectionString.replace(/^kurrentdb/, 'esdb'))
  // Without batch appends: all clients of a process share one list of those under way, so that a connection that breaks
  // fails the appends of every client, and an answer to one of these then ends the process.
  Object.assign(client, { supports: () => Promise.resolve(false) })
  return client
}

const conflict = (actual: AppendExpectedRevision): AppendResult => {
  const isKnown = typeof actual === 'bigint' && actual >= 0n
  return { outcome: 'conflict', revision: isKnown ? Number(actual) : undefined }
}

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

const check = (stream: string, events: readonly NewEvent[]) => {
  checkStreamName(stream)
  if (events.length === 0) throw new RangeError(`Nothing to append to ${stream}.`)
  const reserved = [stream, ...events.map(({ type }) => type)].find((name) => name.startsWith('$'))
  if (reserved !== undefined) throw new RangeError(`Names beginning with $ are EventStoreDB's own: ${reserved}.`)
  const misfit = events.find(({ id }) => !uuid.test(id))
  if (misfit) throw new RangeError(`Not the id of an event: ${JSON.stringify(misfit.id)}.`)
}
