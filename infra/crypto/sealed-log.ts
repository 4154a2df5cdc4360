import { setTimeout as pause } from 'node:timers/promises'
import type { EventShapes, NewEvent, RecordedEvent } from '#domain/event.ts'
import { checkStreamName, LogUnavailable, type EventLog } from '../event-log/event-log.ts'
import { isUnavailable } from '../postgres/postgres.ts'
import type { DataKeys } from './data-keys.ts'
import { keyIdOf, personalDataOf, type PersonalDataOptions } from './personal-data.ts'

const keysWithinMs = 5_000

/**
 * A log that holds what is personal in its events only sealed, under the data keys of those whom it is about, while its
 * users see the events as they are. An append asks for keys only with the first event of a subject; a batch that is read
 * asks for all keys that are not remembered at once.
 */
export const sealedLog = (
  log: EventLog,
  dataKeys: Pick<DataKeys, 'of' | 'byId'>,
  shapes: EventShapes,
  options: PersonalDataOptions = {},
): EventLog => {
  const personalData = personalDataOf(shapes, options)

  const seal = async (stream: string, events: readonly NewEvent[]): Promise<readonly NewEvent[]> =>
    Promise.all(
      events.map(async (event) => {
        const subject = personalData.subjectOf(stream, event)
        return subject ? personalData.seal(stream, event, await dataKeys.of(subject)) : event
      }),
    )

  const open = async (events: readonly RecordedEvent[]): Promise<readonly RecordedEvent[]> => {
    const ids = new Set<string>()
    for (const event of events) {
      const id = keyIdOf(event)
      if (id !== undefined) ids.add(id)
    }
    if (ids.size === 0) return events
    const keys = await dataKeys.byId(ids)
    return events.map((event) => personalData.open(event, keys.get(keyIdOf(event) ?? '')))
  }

  const inTurn = turns()

  return {
    ...log,
    append: async (stream, expected, events) => {
      checkStreamName(stream)
      const start = async () => {
        const sealed = await retry(() => seal(stream, events), { withinMs: keysWithinMs })
        return { appended: log.append(stream, expected, sealed) }
      }
      const started = inTurn(stream, start)
      return (await started).appended
    },
    read: async (stream, page) => {
      const events = await log.read(stream, page)
      return retry(() => open(events), { withinMs: keysWithinMs })
    },
    readAll: async (page) => {
      const events = await log.readAll(page)
      return retry(() => open(events), { withinMs: keysWithinMs })
    },
    subscribe: async function* (subscription) {
      const { signal } = subscription
      for await (const batch of log.subscribe(subscription)) {
        const events = await retry(() => open(batch.events), { signal })
        if (!events) return
        yield { ...batch, events }
      }
    },
  }
}

/** Appends to one stream keep the order in which they were asked for, although only some of them wait for a key. */
const turns = () => {
  const last = new Map<string, Promise<unknown>>()
  return async <Result>(stream: string, work: () => Promise<Result>): Promise<Result> => {
    const before = last.get(stream)
    const turn = before ? before.then(work, work) : work()
    last.set(stream, turn)
    try {
      return await turn
    } finally {
      if (last.get(stream) === turn) last.delete(stream)
    }
  }
}

/** Tries again while the database with the keys cannot be reached. */
async function retry<Result>(work: () => Promise<Result>, limit: { readonly withinMs: number }): Promise<Result>
async function retry<Result>(
  work: () => Promise<Result>,
  limit: { readonly signal: AbortSignal },
): Promise<Result | undefined>
async function retry<Result>(
  work: () => Promise<Result>,
  { withinMs = Infinity, signal }: { readonly withinMs?: number; readonly signal?: AbortSignal },
): Promise<Result | undefined> {
  const deadline = performance.now() + withinMs
  for (let attempt = 1; !signal?.aborted; attempt++)
    try {
      return await work()
    } catch (error) {
      if (!isUnavailable(error)) throw error
      const delayMs = Math.min(25 * 2 ** attempt, 1_000)
      if (performance.now() + delayMs > deadline)
        throw new LogUnavailable('The data keys cannot be read.', { cause: error })
      await pause(delayMs, undefined, signal ? { signal } : {}).catch(() => undefined)
    }
  return undefined
}
