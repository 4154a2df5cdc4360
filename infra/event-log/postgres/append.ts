import { setTimeout as pause } from 'node:timers/promises'
import { DatabaseError, type Pool } from 'pg'
import type { NewEvent, Position } from '#domain/event.ts'
import { checkStreamName, type AppendResult, type ExpectedRevision } from '../event-log.ts'
import { store, type Append, type Result } from './store.ts'
import { isConnectionLoss } from '../../postgres/postgres.ts'
import { notifier } from '../../notifier.ts'

type Waiting = Append & {
  readonly bytes: number
  readonly settle: (result: AppendResult) => void
  readonly fail: (error: unknown) => void
}

// Batches under way at once: while the server commits one, we write the next.
const mostBatchesInFlight = 2
const batchAppends = 256
const batchBytes = 4_000_000

/**
 * Appends that are asked for while others are under way make the next batch, and share its round trip and its commit.
 * What fails as a batch is tried again one by one, so that nobody suffers for the append of another.
 */
export const appender = (pool: Pool, appended: (position: Position) => void) => {
  const waiting: Waiting[] = []
  const busyStreams = new Set<string>()
  let batchesInFlight = 0
  let isScheduled = false
  let isClosed = false
  const finished = notifier()

  // What asks again upon the result of a batch does so before the next turn of the event loop: one batch takes them all.
  const schedule = () => {
    if (isScheduled || batchesInFlight === mostBatchesInFlight || waiting.length === 0) return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      const batch = takeBatch(waiting, busyStreams)
      if (batch.length === 0) return
      batchesInFlight++
      void send(batch).finally(() => {
        batchesInFlight--
        for (const { stream } of batch) busyStreams.delete(stream)
        finished.notify()
        schedule()
      })
      schedule()
    })
  }

  const send = async (batch: readonly Waiting[], attempt = 1): Promise<void> => {
    try {
      const results = await retryConnectionLoss(() => store(pool, batch))
      for (const [index, append] of batch.entries()) finish(append, results[index])
    } catch (error) {
      const [first, ...others] = batch
      if (others.length > 0) for (const append of batch) await send([append])
      else if (isRace(error) && attempt < (isKnownId(error) ? 3 : attempts)) {
        await pause(Math.random() * 5 * attempt)
        await send(batch, attempt + 1)
      } else first?.fail(isKnownId(error) ? eventIdTaken(first.stream, error) : error)
    }
  }

  const finish = (append: Waiting, result: Result | undefined) => {
    if (!result) return append.fail(new Error(`Nothing is known of the append to ${append.stream}.`))
    if (result.outcome === 'taken') return append.fail(eventIdTaken(append.stream))
    if (result.outcome === 'appended') appended(result.position)
    append.settle(result)
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
      const bytes = stored.reduce((sum, { data, metadata }) => sum + data.length + metadata.length, 0)
      waiting.push({ stream, expected, events: stored, bytes, settle, fail })
      schedule()
    })

  return {
    append,
    /** Takes no more, and waits for those that were taken. */
    close: async (): Promise<void> => {
      isClosed = true
      while (batchesInFlight > 0 || waiting.length > 0) await finished.wait()
    },
  }
}

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/** The longest waiting appends to streams that nobody else is busy with, one for each stream. */
const takeBatch = (waiting: Waiting[], busyStreams: Set<string>): readonly Waiting[] => {
  const batch: Waiting[] = []
  let bytes = 0
  for (let index = 0; index < waiting.length && batch.length < batchAppends;) {
    const append = waiting[index]
    if (!append || busyStreams.has(append.stream)) {
      index++
      continue
    }
    bytes += append.bytes
    if (batch.length > 0 && bytes > batchBytes) break
    batch.push(append)
    busyStreams.add(append.stream)
    waiting.splice(index, 1)
  }
  return batch.sort((one, other) => (one.stream < other.stream ? -1 : 1))
}

const attempts = 10

/** Does it again when the connection was lost: the ids of the events make a repetition harmless. */
const retryConnectionLoss = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  for (let attempt = 1; ; attempt++)
    try {
      return await work()
    } catch (error) {
      if (attempt === attempts || !isConnectionLoss(error)) throw error
      await pause((0.5 + Math.random() / 2) * Math.min(1_000, 10 * 2 ** attempt))
    }
}

/** Another writer came first: the next attempt sees what that one wrote. */
const isRace = (error: unknown): boolean =>
  error instanceof DatabaseError && ['23505', '40001', '40P01'].includes(error.code ?? '')

const isKnownId = (error: unknown): boolean => error instanceof DatabaseError && error.constraint === 'event_id'

const eventIdTaken = (stream: string, cause?: unknown) =>
  new Error(`An event for ${stream} has the id of an event of another append. Nothing was stored.`, { cause })
