import {
  WrongExpectedVersionError,
  type AppendExpectedRevision,
  type AppendResult as Appended,
} from '@eventstore/db-client'
import type { NewEvent } from '#domain/event.ts'
import { checkStreamName, type AppendResult, type EventLog, type ExpectedRevision } from '../event-log.ts'
import { makeCalls, realTime, usualLimits, type Limits, type Time } from './calls.ts'
import { connect } from './connection.ts'
import { measure, toPosition, toProposed } from './events.ts'
import { NoAnswer } from './failures.ts'
import { makeOutages } from './outages.ts'
import { reader } from './read.ts'
import { readConnectionString } from './settings.ts'
import { subscribeTo } from './subscribe.ts'

/**
 * The log in EventStoreDB (23.10 or later) or KurrentDB. A position is the place of an event in its transaction file.
 *
 * A repeated append is the server's own affair: with an exact expectation it compares the ids at that place of the stream,
 * however late; with `any` it knows the ids of the recent past. So an append whose outcome was lost is simply done again.
 *
 * Throws `LogMisconfigured` when the connection string cannot be used; so does the first call that shows wrong settings.
 */
export const eventStoreDbLog = (
  connectionString: string,
  given: Partial<Limits> = {},
  time: Time = realTime,
): EventLog => {
  const limits = { ...usualLimits, ...given }
  const settings = readConnectionString(connectionString)
  const connection = connect(settings)
  const outages = makeOutages()
  const calls = makeCalls(connection, settings, limits, outages, time)
  const closing = new AbortController()
  const { client } = connection
  const { read, readAll, head, end } = reader(client, calls, limits)
  let underWay = 0

  const append = async (
    stream: string,
    expected: ExpectedRevision,
    events: readonly NewEvent[],
  ): Promise<AppendResult> => {
    check(stream, events)
    const proposed = events.map(toProposed)
    const expectedRevision = typeof expected === 'number' ? BigInt(expected) : expected
    const options = { expectedRevision, deadline: limits.attemptMs, requiresLeader: true }
    if (underWay >= limits.appendsMaximum)
      throw calls.unavailable(new NoAnswer(`${underWay} appends wait for their answers already`))
    underWay += 1
    try {
      const appended = await calls.call('append', () => client.appendToStream(stream, proposed, options))
      return { outcome: 'appended', ...(await appendedAt(stream, appended)) }
    } catch (error) {
      if (error instanceof WrongExpectedVersionError) return conflict(error.actualVersion)
      throw error
    } finally {
      underWay -= 1
    }
  }

  const appendedAt = async (stream: string, { nextExpectedRevision, position }: Appended) => {
    const revision = Number(nextExpectedRevision)
    if (position) return { revision, position: toPosition(position) }
    // A repeat may be acknowledged without its position.
    const [last] = await read(stream, { from: revision, limit: 1 })
    if (!last) throw new Error(`${stream} has no revision ${revision} although it was appended.`)
    return { revision, position: last.position }
  }

  return {
    append,
    read,
    readAll,
    subscribe: (subscription) =>
      subscribeTo(
        { connection, calls, outages, limits },
        { ...subscription, signal: AbortSignal.any([subscription.signal, closing.signal]) },
      ),
    head,
    end,
    measure,
    outage: outages.outage,
    // What else is under way may finish. The client cannot close its connection, but an idle one keeps no process alive.
    close: () => Promise.resolve(closing.abort()),
  }
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
  const unusable = events.find(({ id }) => !uuid.test(id))
  if (unusable) throw new RangeError(`Not the id of an event: ${JSON.stringify(unusable.id)}.`)
}
