import type { EventShapes, NewEvent, RecordedEvent } from '#domain/event.ts'
import { checkStreamName, LogUnavailable, type AppendResult, type EventLog } from '../event-log/event-log.ts'
import { isUnavailable } from '../postgres/postgres.ts'
import { retry } from '../retry.ts'
import { withTimeout } from '../timeout.ts'
import type { DataKeys } from './data-keys.ts'
import { keyIdOf, personalDataOf, type PersonalDataOptions } from './personal-data.ts'

type Options = PersonalDataOptions & {
  /** Deadline of finding the keys of an append or a read. */
  readonly keysMs?: number
  /** Deadline of an append, the wait for its keys and its turn included. */
  readonly appendMs?: number
}

/**
 * A log that holds what is personal in its events only sealed, under the data keys of those whom it is about, while its
 * users see the events as they are. An append asks for keys only with the first event of a subject; a batch that is read
 * asks for all keys that are not remembered at once.
 */
export const sealedLog = (
  log: EventLog,
  dataKeys: Pick<DataKeys, 'of' | 'known' | 'byId'>,
  shapes: EventShapes,
  { keysMs = 5_000, appendMs = 15_000, ...options }: Options = {},
): EventLog => {
  const personalData = personalDataOf(shapes, options)
  const inTime = <Result>(work: () => Promise<Result>) => foundWithin(work, keysMs)

  const seal = async (stream: string, events: readonly NewEvent[]): Promise<readonly NewEvent[]> =>
    Promise.all(
      events.map(async (event) => {
        const subject = personalData.subjectOf(stream, event)
        return subject ? personalData.seal(stream, event, await dataKeys.of(subject)) : event
      }),
    )

  /** Undefined when a key is not remembered. */
  const sealAtOnce = (stream: string, events: readonly NewEvent[]): readonly NewEvent[] | undefined => {
    const sealed: NewEvent[] = []
    for (const event of events) {
      const subject = personalData.subjectOf(stream, event)
      const key = subject && dataKeys.known(subject)
      if (subject && !key) return undefined
      sealed.push(key ? personalData.seal(stream, event, key) : event)
    }
    return sealed
  }

  const open = eventOpener(dataKeys, shapes, options)

  const { isBusy, inTurn } = turns()

  const appendInTurn: EventLog['append'] = async (stream, expected, events) => {
    const late = () => new LogUnavailable(`The append took longer than ${appendMs} ms.`)
    const deadline = performance.now() + appendMs
    const start = async (): Promise<{ readonly appended: Promise<AppendResult> }> => {
      // Whoever asked for it has been told that it failed.
      if (performance.now() >= deadline) throw late()
      const sealed = await inTime(() => seal(stream, events))
      if (performance.now() >= deadline) throw late()
      return { appended: log.append(stream, expected, sealed) }
    }
    const appending = inTurn(stream, start).then(({ appended }) => appended)
    return withTimeout(appending, appendMs, late)
  }

  return {
    ...log,
    append: async (stream, expected, events) => {
      checkStreamName(stream)
      const sealed = isBusy(stream) ? undefined : sealAtOnce(stream, events)
      return sealed ? log.append(stream, expected, sealed) : appendInTurn(stream, expected, events)
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

/** Opens events as they are stored: asks for all keys that are not remembered at once. */
export const eventOpener = (
  dataKeys: Pick<DataKeys, 'byId'>,
  shapes: EventShapes,
  options: PersonalDataOptions = {},
) => {
  const personalData = personalDataOf(shapes, options)
  return async (events: readonly RecordedEvent[]): Promise<readonly RecordedEvent[]> => {
    const ids = new Set<string>()
    for (const event of events) {
      const id = keyIdOf(event)
      if (id !== undefined) ids.add(id)
    }
    if (ids.size === 0) return events
    const keys = await dataKeys.byId(ids)
    return events.map((event) => personalData.open(event, keys.get(keyIdOf(event) ?? '')))
  }
}

/** Appends to one stream keep the order in which they were asked for, although only some of them wait for a key. */
const turns = () => {
  const last = new Map<string, Promise<unknown>>()
  const inTurn = async <Result>(stream: string, work: () => Promise<Result>): Promise<Result> => {
    const before = last.get(stream)
    const turn = before ? before.then(work, work) : work()
    last.set(stream, turn)
    try {
      return await turn
    } finally {
      if (last.get(stream) === turn) last.delete(stream)
    }
  }
  return { inTurn, isBusy: (stream: string): boolean => last.has(stream) }
}

/** Does work again while the database with the data keys is away. */
const whileAway = (work: () => Promise<readonly RecordedEvent[]>, signal: AbortSignal) =>
  retry(work, { isTransient: isUnavailable, delayMaximumMs: 1_000, signal })

/** Does work that needs keys, again while their database is away, until its deadline. */
const foundWithin = async <Result>(work: () => Promise<Result>, withinMs: number): Promise<Result> => {
  const late = () => new LogUnavailable('The data keys cannot be read.')
  const working = retry(work, { isTransient: isUnavailable, delayMaximumMs: 1_000, withinMs })
  return withTimeout(working, withinMs, late).catch((error: unknown) => {
    throw isUnavailable(error) ? new LogUnavailable('The data keys cannot be read.', { cause: error }) : error
  })
}
