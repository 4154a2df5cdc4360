import { v7 as uuid } from 'uuid'
import { expect } from 'vitest'
import type { Json, NewEvent, Position, RecordedEvent } from '#domain/event.ts'
import type { Batch, EventLog, Subscription } from '#infra/event-log/event-log.ts'

/** A category that no other test uses, and streams in it. */
export const newCategory = (prefix = 'test'): string => `${prefix}${uuid().replaceAll('-', '')}`
export const newStream = (category = newCategory()): string => `${category}-${uuid()}`

export const newEvent = (type = 'SomethingHappened', data: Json = {}): NewEvent => ({
  id: uuid(),
  type,
  schema_version: 1,
  data,
  metadata: {
    organisation_id: 'org_1',
    actor: { type: 'system', id: null },
    correlation_id: 'correlation',
    causation_id: null,
    occurred_at: '2026-01-02T03:04:05.678Z',
  },
})

export const newEvents = (count: number, type?: string): NewEvent[] =>
  Array.from({ length: count }, (_, number) => newEvent(type, { number }))

/** What was appended, without what the log adds. */
export const asAppended = ({ id, type, schema_version, data, metadata }: RecordedEvent): NewEvent => ({
  id,
  type,
  schema_version,
  data,
  metadata,
})

export const idsOf = (events: readonly { readonly id: string }[]): string[] => events.map(({ id }) => id)

/** Appends, and expects that nobody else was faster. */
export const appended = async (
  log: EventLog,
  stream: string,
  events: readonly NewEvent[],
  expected: 'no_stream' | 'any' | number = 'any',
): Promise<{ readonly revision: number; readonly position: Position }> => {
  const result = await log.append(stream, expected, events)
  if (result.outcome !== 'appended') throw new Error(`A conflict at revision ${result.revision} of ${stream}.`)
  return result
}

/** Long enough on a machine that does much else: nobody waits for it but a test that fails. */
const patienceMs = 60_000

/** Takes batches until it has seen enough, then ends the subscription. */
export const batchesOf = async (
  log: EventLog,
  subscription: Omit<Subscription, 'signal'>,
  isEnough: (batches: readonly Batch[]) => boolean | Promise<boolean>,
): Promise<Batch[]> => {
  const leaving = new AbortController()
  const batches: Batch[] = []
  const signal = AbortSignal.any([leaving.signal, AbortSignal.timeout(patienceMs)])
  for await (const batch of log.subscribe({ ...subscription, signal })) {
    batches.push(batch)
    if (await isEnough(batches)) {
      leaving.abort()
      return batches
    }
  }
  throw new Error(`Waited in vain for more than ${eventsIn(batches).length} events in ${batches.length} batches.`)
}

export const eventsIn = (batches: readonly Batch[]): RecordedEvent[] => batches.flatMap(({ events }) => events)

/** The first events of a subscription, at least so many. */
export const firstEvents = async (
  log: EventLog,
  subscription: Omit<Subscription, 'signal'>,
  count: number,
): Promise<RecordedEvent[]> =>
  eventsIn(await batchesOf(log, subscription, (batches) => eventsIn(batches).length >= count))

/** All events of a subscription up to the moment when it says that it has caught up. */
export const untilCaughtUp = async (
  log: EventLog,
  subscription: Omit<Subscription, 'signal'>,
): Promise<RecordedEvent[]> =>
  eventsIn(await batchesOf(log, subscription, (batches) => batches.at(-1)?.caughtUp === true))

/** The whole log after a position, page by page. */
export const allAfter = async (
  log: EventLog,
  beyond: Position | undefined,
  limit = 1_000,
): Promise<RecordedEvent[]> => {
  const events: RecordedEvent[] = []
  for (;;) {
    const from = events.at(-1)?.position ?? beyond
    const page = await log.readAll({ limit, ...(from && { beyond: from }) })
    expect(page.length).toBeLessThanOrEqual(limit)
    events.push(...page)
    if (page.length < limit) return events
  }
}

/** Until then, or a clear failure. */
export const eventually = async (isSo: () => Promise<boolean>, what: string): Promise<void> => {
  const deadline = Date.now() + patienceMs
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`Waited in vain: ${what}.`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** A log may show an event to those who read all of it a moment after it was appended. */
export const isVisible = (log: EventLog, position: Position): Promise<void> =>
  eventually(async () => ((await log.head()) ?? '') >= position, `the log's head to reach ${position}`)
