import { z } from 'zod'
import { fromStored, type EventShapes, type Json, type RecordedEvent } from '#domain/event.ts'
import { OrganisationId } from '#domain/values.ts'
import { notFound } from '#domain/rejection.ts'
import { UnreadableEvent } from '#infra/crypto/erased.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { pageParameters, Revision } from './page.ts'
import { userNames } from './user-names.ts'

/** One thing that happened to a record, as the operator sees it. */
export const TimelineEntry = z
  .object({
    event_id: z.uuid(),
    revision: z.int(),
    type: z.string().describe('What happened, as it is stored.'),
    actor: z
      .object({
        type: z.string(),
        id: z.string().nullable(),
        name: z
          .string()
          .nullable()
          .describe('Of `user`: their name; `person` and the begin of the id once they were erased.'),
      })
      .describe(
        'Of `operator`, the id is the name of the key. Of `user`: the id of the user. Of `api`: the API application.',
      ),
    occurred_at: z.iso.datetime(),
    details: z
      .record(z.string(), z.unknown())
      .describe('Without what is personal. Empty where the event can be read no more.'),
  })
  .meta({ id: 'TimelineEntry' })

export const Timeline = z.object({ data: z.array(TimelineEntry), next_cursor: z.string().nullable() })

export const timelineParameters = z.object({
  organisation_id: OrganisationId,
  limit: pageParameters.limit,
  cursor: Revision.optional().describe('The next_cursor of an earlier answer.'),
  order: z.enum(['oldest_first', 'newest_first']).default('oldest_first'),
})

type RecordKind = { readonly category: string; readonly events: EventShapes }

/** Of the log: the events that follow a cursor in an order. */
const pageAfter = (order: 'oldest_first' | 'newest_first', cursor: number | undefined) => {
  if (order === 'oldest_first') return { from: (cursor ?? -1) + 1 }
  return { direction: 'backwards' as const, ...(cursor !== undefined && { from: cursor - 1 }) }
}

/** A page of what happened to a record, from the log itself: a read model would hold the same once more. */
export const readTimeline = async (
  eventLog: Pick<EventLog, 'read'>,
  { category, events }: RecordKind,
  id: string,
  { organisation_id, limit, cursor, order }: z.output<typeof timelineParameters>,
): Promise<z.input<typeof Timeline>> => {
  const stream = `${category}-${id.toLowerCase()}`
  const found = await eventLog.read(stream, { ...pageAfter(order, cursor), limit: limit + 1 })
  const [first = (await eventLog.read(stream, { limit: 1 }))[0]] = found
  if (first?.metadata.organisation_id !== organisation_id) throw notFound(category)
  const own = found.filter(({ metadata }) => metadata.organisation_id === organisation_id)
  const page = own.slice(0, limit)
  const last = own.length > limit ? page.at(-1) : undefined
  const nameOf = userNames(eventLog)
  const shown = async (recorded: RecordedEvent) => {
    const { id: event_id, revision, type, metadata } = recorded
    const { actor, occurred_at } = metadata
    const name = actor.type === 'user' && actor.id !== null ? await nameOf(actor.id) : null
    return { event_id, revision, type, actor: { ...actor, name }, occurred_at, details: detailsOf(events, recorded) }
  }
  const data = await Promise.all(page.map(shown))
  return { data, next_cursor: last ? String(last.revision) : null }
}

/** One event that cannot be read hides no other. */
const detailsOf = (events: EventShapes, recorded: RecordedEvent): Json => {
  try {
    const { type, ...details } = fromStored(events, recorded)
    return Object.fromEntries(Object.entries(details).filter(([name]) => !events[type]?.personal.includes(name)))
  } catch (error) {
    if (error instanceof UnreadableEvent) return {}
    throw error
  }
}
