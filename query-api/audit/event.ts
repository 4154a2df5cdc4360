import { z } from 'zod'
import { publishedName, typeOf } from '#domain/event-kinds.ts'
import { fromStored, NewerEvent, type Json, type RecordedEvent } from '#domain/event.ts'
import { storedEvents } from '#domain/stored-events.ts'
import { erasedData, UnreadableEvent } from '#infra/crypto/erased.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import type { EventRow } from './asked.ts'

/** Personal values are shown where they are asked for, and otherwise empty. */
export const Personal = z.enum(['masked', 'opened'])
export type Personal = z.infer<typeof Personal>

export const personalParameter = Personal.default('masked').describe(
  'opened: values that may identify a person are shown. masked: they are empty.',
)

/** An event as it is shown to whoever looks into the past. */
export const AuditEvent = z
  .object({
    event_id: z.uuid(),
    position: z.string().describe('Its place in the log. Later events have greater ones, as text.'),
    record: z.object({ type: z.string(), id: z.string() }).describe('What it happened to: `policy`, and its id.'),
    revision: z.int().describe('Counts the events of the record, from 0.'),
    type: z.string().describe('What happened, as it is stored: `PolicyCancelled`.'),
    published_as: z
      .string()
      .nullable()
      .describe('The name under which webhooks and feeds tell of it: `policy.cancelled`.'),
    actor: z
      .object({ type: z.string(), id: z.string().nullable() })
      .describe(
        'Who: of `operator` the name of the key, of `api` the id of the API application, of `system` the reaction or timer.',
      ),
    request_id: z
      .string()
      .describe('The X-Request-Id of the request that led to it: all that one request caused has the same.'),
    caused_by: z.uuid().nullable().describe('The event that this one follows from.'),
    occurred_at: z.iso.datetime().describe('When it happened, in business time.'),
    recorded_at: z.iso.datetime().describe('When the log recorded it.'),
    person_ids: z.array(z.uuid()).describe('The people whom it is about, as far as that is known.'),
    data: z.record(z.string(), z.unknown()).describe('What the event says, in its newest form.'),
    personal_fields: z.array(z.string()).describe('The fields of `data` that may identify a person.'),
    personal: z
      .enum(['none', 'masked', 'opened', 'erased', 'unreadable'])
      .describe(
        'erased: the person was erased, and what was personal is empty for ever. unreadable: the event cannot be read, and `data` is empty.',
      ),
  })
  .meta({ id: 'AuditEvent' })
export type AuditEvent = z.output<typeof AuditEvent>

// Secrets are kept sealed or as digests: nobody who looks into the past needs either.
const isSecret = /(^|_)(sealed|secret|hash|key_digest|check_value)(_|$)/

export const withoutSecrets = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutSecrets)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [
      name,
      isSecret.test(name) && part !== null ? 'not shown' : withoutSecrets(part),
    ]),
  )
}

type Shown = Pick<AuditEvent, 'data' | 'personal' | 'personal_fields'>

const unreadable: Shown = { data: {}, personal: 'unreadable', personal_fields: [] }

/** The data of an event, in its newest form, with what is personal in it as it was asked for. */
export const shownData = (recorded: RecordedEvent, personal: Personal): Shown => {
  try {
    const { type, ...data } = fromStored(storedEvents, recorded)
    const shape = storedEvents[type]
    if (!shape) return unreadable
    const personal_fields = shape.personal.filter((field) => data[field] !== null && data[field] !== undefined)
    const isEmptied = personal === 'masked' && !recorded.erased && personal_fields.length > 0
    return {
      data: withoutSecrets(isEmptied ? { ...data, ...erasedData(shape) } : data) as Json,
      personal: recorded.erased ? 'erased' : personal_fields.length > 0 ? personal : 'none',
      personal_fields,
    }
  } catch (error) {
    // One event that cannot be read hides no other.
    if (error instanceof UnreadableEvent || error instanceof NewerEvent) return unreadable
    throw error
  }
}

/** An event without what it says. */
export const headOf = (row: EventRow): Omit<AuditEvent, keyof Shown> => {
  const { stream, revision, position, event_id, kind, person_id, second_person_id } = row
  const dash = stream.indexOf('-')
  return {
    event_id,
    position,
    record: { type: stream.slice(0, dash), id: stream.slice(dash + 1) },
    revision,
    type: typeOf(kind),
    published_as: publishedName(kind) ?? null,
    actor: { type: row.actor_type, id: row.actor_id },
    request_id: row.correlation_id,
    caused_by: row.causation_id,
    occurred_at: row.occurred_at.toISOString(),
    recorded_at: row.recorded_at.toISOString(),
    person_ids: [person_id, second_person_id].filter((id) => id !== null),
  }
}

const shownEvent = (row: EventRow, recorded: RecordedEvent | undefined, personal: Personal): AuditEvent => ({
  ...headOf(row),
  ...(recorded ? shownData(recorded, personal) : unreadable),
})

type Run = { readonly stream: string; from: number; to: number }

// Two events of a stream that are so close are read together, with what lies between them.
const nearby = 20

/** The parts of streams that hold these events: few, and none much longer than what is wanted of it. */
const runsOf = (rows: readonly EventRow[]): readonly Run[] => {
  const runs: Run[] = []
  const last = new Map<string, Run>()
  for (const { stream, revision } of rows.toSorted((one, other) => one.revision - other.revision)) {
    const run = last.get(stream)
    if (run && revision - run.to <= nearby) run.to = revision
    else {
      const begun = { stream, from: revision, to: revision }
      runs.push(begun)
      last.set(stream, begun)
    }
  }
  return runs
}

// An event can have some megabytes, a rate table for example.
const readTogether = 25
const mostBytes = 8_000_000

/**
 * The events of these rows, in their order, with what they say, read from the log. Fewer where they are large: those that follow
 * are for the next page.
 */
export const readEvents = async (
  eventLog: Pick<EventLog, 'read'>,
  rows: readonly EventRow[],
  personal: Personal,
): Promise<readonly AuditEvent[]> => {
  const shown: AuditEvent[] = []
  let bytes = 0
  for (let first = 0; first < rows.length && bytes < mostBytes; first += readTogether) {
    const some = rows.slice(first, first + readTogether)
    const read = await Promise.all(
      runsOf(some).map(({ stream, from, to }) => eventLog.read(stream, { from, limit: to - from + 1 })),
    )
    const byId = new Map(read.flat().map((recorded) => [recorded.id, recorded]))
    for (const row of some) {
      const event = shownEvent(row, byId.get(row.event_id), personal)
      bytes += JSON.stringify(event.data).length
      shown.push(event)
    }
  }
  return shown
}
