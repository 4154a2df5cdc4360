import type { EventShapes, NewEvent, RecordedEvent } from '#domain/event.ts'
import { checkStreamName, LogUnavailable, type EventLog } from '../event-log/event-log.ts'
import { isUnavailable } from '../postgres/postgres.ts'
import { retry } from '../retry.ts'
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
        const sealed = await inTime(() => seal(stream, events))
        return { appended: log.append(stream, expected, sealed) }
      }
      const started = inTurn(stream, start)
      return (await started).appended
    },
    read: async (stream, page) => {
      const events = await log.read(stream, page)
      return inTime(() => open(events))
    },
    readAll: async (page) => {
      const events = await log.readAll(page)
      return inTime(() => open(events))
    },
    subscribe: async function* (subscription) {
      const { signal } = subscription
      for await (const batch of log.subscribe(subscription)) {
        if (signal.aborted) return
        const events = await whileAway(() => open(batch.events), signal).catch((error: unknown) => {
          // A transient error comes through only when the signal is aborted.
          if (!isUnavailable(error)) throw error
        })
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

/** Does work again while the database with the data keys is away. */
const whileAway = (work: () => Promise<readonly RecordedEvent[]>, signal: AbortSignal) =>
  retry(work, { isTransient: isUnavailable, delayMaximumMs: 1_000, signal })

const inTime = <Result>(work: () => Promise<Result>): Promise<Result> =>
  retry(work, { isTransient: isUnavailable, delayMaximumMs: 1_000, withinMs: keysWithinMs }).catch((error: unknown) => {
    throw isUnavailable(error) ? new LogUnavailable('The data keys cannot be read.', { cause: error }) : error
  })
