import { changesOf } from '#domain/changes.ts'
import { fromStored, NewerEvent, type Json, type RecordedEvent } from '#domain/event.ts'
import { storedEvents } from '#domain/stored-events.ts'
import { erasedData, UnreadableEvent } from '#infra/crypto/erased.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { maskedChanges, type ShownChange } from './changes.ts'
import { withoutSecrets, type Personal } from './event.ts'
import { foldOf, type Told } from './folds.ts'

/** A record as it is, and as it would be if its people were erased. */
type Folded = { readonly whole: Json; readonly masked: Json }

export type HistoryStep = {
  readonly recorded: RecordedEvent
  /** Undefined: the event cannot be read. */
  readonly told: Told | undefined
  /** Undefined: the record cannot be folded as far as here. */
  readonly changes: readonly ShownChange[] | undefined
}

const pageSize = 500

export const toldBy = (recorded: RecordedEvent): Told | undefined => {
  try {
    return fromStored(storedEvents, recorded) as Told // of any type
  } catch (error) {
    if (error instanceof UnreadableEvent || error instanceof NewerEvent) return undefined
    throw error
  }
}

/** An event as it is when its people are erased: nothing of them is left. */
export const withoutPeople = (told: Told): Told => {
  const shape = storedEvents[told.type]
  return shape ? { ...told, ...erasedData(shape) } : told
}

/** A fold refuses what it cannot follow, such as a record whose beginning cannot be read. */
const followed = (
  state: Folded | undefined,
  category: string,
  recorded: RecordedEvent,
  told: Told | undefined,
): Folded | undefined => {
  if (!state || !told) return undefined
  const fold = foldOf(category)
  try {
    return {
      whole: fold(state.whole, told, recorded.metadata),
      masked: fold(state.masked, withoutPeople(told), recorded.metadata),
    }
  } catch {
    return undefined
  }
}

const visible = (state: Json): Json => withoutSecrets(state) as Json // as it holds what the state held

const changesBetween = (before: Folded, after: Folded, personal: Personal): readonly ShownChange[] => {
  const whole = { before: visible(before.whole), after: visible(after.whole) }
  return personal === 'opened'
    ? changesOf(whole.before, whole.after).map((change) => ({ ...change, masked: false }))
    : maskedChanges(whole, { before: visible(before.masked), after: visible(after.masked) })
}

type Asked = {
  readonly category: string
  readonly id: string
  readonly organisation_id: string
  /** The events whose changes are not looked for, since they are not shown: those up to this revision. */
  readonly after: number
  readonly personal: Personal
}

/**
 * The history of a record, oldest first, each event with what it changed: the record is folded from its first event. Nothing: it
 * is not this organisation's. It is read page by page, as far as its reader goes.
 */
export const historyOf = async function* (
  eventLog: Pick<EventLog, 'read'>,
  { category, id, organisation_id, after: passed, personal }: Asked,
): AsyncGenerator<HistoryStep> {
  let state: Folded | undefined = { whole: {}, masked: {} }
  for (let next = 0; ; next += pageSize) {
    const page: readonly RecordedEvent[] = await eventLog.read(`${category}-${id}`, { from: next, limit: pageSize })
    for (const recorded of page) {
      if (recorded.metadata.organisation_id !== organisation_id) return
      const told = toldBy(recorded)
      const after = followed(state, category, recorded, told)
      const changes = state && after && recorded.revision > passed ? changesBetween(state, after, personal) : undefined
      yield { recorded, told, changes }
      state = after
    }
    if (page.length < pageSize) return
  }
}
