import { setTimeout as pause } from 'node:timers/promises'
import { DatabaseError, type Pool } from 'pg'
import type { NewEvent, Position } from '#domain/event.ts'
import { checkStreamName, LogUnavailable, type AppendResult, type ExpectedRevision } from '../event-log.ts'
import { store, type Append, type Result } from './store.ts'
import { isTooSlow, isUnavailable } from '../../postgres/postgres.ts'
import { notifier } from '../../notifier.ts'

type Waiting = Append & {
  readonly bytes: number
  /** True once its caller has an answer, be it that the deadline has passed. */
  readonly isSettled: () => boolean
  readonly settle: (result: AppendResult) => void
  readonly fail: (error: unknown) => void
}

export type AppendLimits = {
  /** Deadline of an append, the time in the queue and all attempts included. */
  readonly withinMs: number
  /** Appends that may wait for a batch, and the bytes of their events. Beyond either, an append fails at once. */
  readonly waiting: number
  readonly waitingBytes: number
}

export const appendLimits: AppendLimits = { withinMs: 15_000, waiting: 10_000, waitingBytes: 64_000_000 }

// What waits for a batch makes the next one: a second at the same time would only make both smaller, and each batch is
// announced, read and folded separately. A batch that takes longer does not hold the others up.
const mostBatchesInFlight = 2
const secondAfterMs = 10
const batchAppends = 256
const batchBytes = 4_000_000

/**
 * Appends that are asked for while others are under way make the next batch, and share its round trip and its commit. A
 * batch that the server refuses is tried again one by one, so that no append fails because of another. One that does not
 * end within the deadline of an attempt is divided, because one append may be what the others wait for. When the server is
 * away, the batch is tried again as a whole. All this goes on until each append reaches its own deadline: the ids of the
 * events make a repetition harmless.
 */
export const appender = (
  pool: Pool,
  appended: (stream: string, position: Position) => void,
  limits: AppendLimits = appendLimits,
) => {
  const waiting = new Set<Waiting>()
  let waitingBytes = 0
  const busyStreams = new Set<string>()
  let batchesInFlight = 0
  let isScheduled = false
  let begunAt = 0
  let laterTimer: NodeJS.Timeout | undefined
  let isClosed = false
  let lastError: unknown
  const finished = notifier()

  const leaveQueue = (append: Waiting) => {
    if (waiting.delete(append)) waitingBytes -= append.bytes
  }

  // A caller that asks again upon the result of a batch does so before the next turn of the event loop: one batch takes them all.
  const schedule = () => {
    if (isScheduled || batchesInFlight === mostBatchesInFlight || waiting.size === 0) return
    if (batchesInFlight > 0 && performance.now() - begunAt < secondAfterMs) return scheduleLater()
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      const batch = chooseBatch(waiting, busyStreams)
      if (batch.length === 0) return
      for (const append of batch) {
        leaveQueue(append)
        busyStreams.add(append.stream)
      }
      batchesInFlight++
      begunAt = performance.now()
      void send(batch).finally(() => {
        batchesInFlight--
        for (const { stream } of batch) busyStreams.delete(stream)
        finished.notify()
        schedule()
      })
      schedule()
    })
  }

  const scheduleLater = () => {
    laterTimer ??= setTimeout(() => {
      laterTimer = undefined
      schedule()
    }, secondAfterMs)
  }

  // What is left of a part comes after all other parts: those that succeed do not wait for those that do not.
  const send = async (batch: readonly Waiting[]): Promise<void> => {
    const parts: Part[] = [{ appends: batch, attempt: 1 }]
    for (let part = parts.shift(); part; part = parts.shift()) parts.push(...(await trySend(part)))
  }

  /** Returns what must be sent again. */
  const trySend = async ({ appends, attempt }: Part): Promise<readonly Part[]> => {
    const pending = appends.filter(({ isSettled }) => !isSettled())
    const [first] = pending
    if (!first) return []
    const again = { appends: pending, attempt: attempt + 1 }
    try {
      const results = await store(pool, pending)
      for (const [index, append] of pending.entries()) finish(append, results[index])
      return []
    } catch (error) {
      if (isUnavailable(error)) {
        lastError = error
        if (isTooSlow(error)) return divide(again, Math.ceil(pending.length / partsOfSlow))
        await pause((0.5 + Math.random() / 2) * Math.min(1_000, 10 * 2 ** attempt))
        return [again]
      }
      if (pending.length > 1) return divide({ appends: pending, attempt: 1 }, 1)
      if (!isRace(error) || attempt === (isKnownId(error) ? 3 : mostRaces)) {
        first.fail(isKnownId(error) ? eventIdTaken(first.stream, error) : error)
        return []
      }
      await pause(Math.random() * 5 * attempt)
      return [again]
    }
  }

  const finish = (append: Waiting, result: Result | undefined) => {
    if (!result) return append.fail(new Error(`Nothing is known of the append to ${append.stream}.`))
    if (result.outcome === 'taken') return append.fail(eventIdTaken(append.stream))
    if (result.outcome === 'appended') appended(append.stream, result.position)
    append.settle(result)
  }

  const enqueue = (asked: Append, settle: Waiting['settle'], fail: Waiting['fail']) => {
    const bytes = asked.events.reduce((sum, { data, metadata }) => sum + data.length + metadata.length, 0)
    if (waiting.size >= limits.waiting || (waiting.size > 0 && waitingBytes + bytes > limits.waitingBytes))
      throw new LogUnavailable(`${waiting.size} appends wait already.`, { cause: lastError })
    let isSettled = false
    const end = () => {
      isSettled = true
      clearTimeout(deadline)
      leaveQueue(append)
    }
    const append: Waiting = {
      ...asked,
      bytes,
      isSettled: () => isSettled,
      settle: (result) => {
        end()
        settle(result)
      },
      fail: (error) => {
        end()
        fail(error)
      },
    }
    const deadline = setTimeout(() => {
      append.fail(new LogUnavailable(`The append took longer than ${limits.withinMs} ms.`, { cause: lastError }))
      finished.notify()
    }, limits.withinMs)
    waiting.add(append)
    waitingBytes += bytes
  }

  const append = (stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<AppendResult> =>
    new Promise((settle, fail) => {
      if (isClosed) throw new Error('The log is closed.')
      checkStreamName(stream)
      if (typeof expected === 'number' && !(Number.isSafeInteger(expected) && expected >= 0))
        throw new RangeError(`Not a revision: ${expected}.`)
      if (events.length === 0) throw new RangeError(`Nothing to append to ${stream}.`)
      const stored = events.map(({ id, type, schema_version, data, metadata }) => {
        if (!uuid.test(id)) throw new RangeError(`Not the id of an event: ${JSON.stringify(id)}.`)
        return { id, type, schema_version, data: JSON.stringify(data), metadata: JSON.stringify(metadata) }
      })
      enqueue({ stream, expected, events: stored }, settle, fail)
      schedule()
    })

  return {
    append,
    /** Takes no more, and waits for those that were taken. */
    close: async (): Promise<void> => {
      isClosed = true
      while (batchesInFlight > 0 || waiting.size > 0) await finished.wait()
    },
  }
}

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/** The appends that wait longest, one for each stream to which nothing is being appended, ordered by stream. */
const chooseBatch = (waiting: ReadonlySet<Waiting>, busyStreams: ReadonlySet<string>): readonly Waiting[] => {
  const batch = new Map<string, Waiting>()
  let bytes = 0
  for (const append of waiting) {
    if (busyStreams.has(append.stream) || batch.has(append.stream)) continue
    bytes += append.bytes
    if (batch.size > 0 && bytes > batchBytes) break
    batch.set(append.stream, append)
    if (batch.size === batchAppends) break
  }
  return [...batch.values()].sort((one, other) => (one.stream < other.stream ? -1 : 1))
}

type Part = { readonly appends: readonly Waiting[]; readonly attempt: number }

/** The parts of one division: the largest batch comes down to single appends within the deadline of an append. */
const partsOfSlow = 8

const divide = ({ appends, attempt }: Part, size: number): Part[] => {
  const count = Math.ceil(appends.length / size)
  return Array.from({ length: count }, (_, index) => ({
    appends: appends.slice(index * size, (index + 1) * size),
    attempt,
  }))
}

const mostRaces = 10

/** Another writer came first: the next attempt sees what that one wrote. */
const isRace = (error: unknown): boolean =>
  error instanceof DatabaseError && ['23505', '40001', '40P01'].includes(error.code ?? '')

const isKnownId = (error: unknown): boolean => error instanceof DatabaseError && error.constraint === 'event_id'

const eventIdTaken = (stream: string, cause?: unknown) =>
  new Error(`An event for ${stream} has the id of an event of another append. Nothing was stored.`, { cause })
