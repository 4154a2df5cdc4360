import { jsonEvent, type EventType, type JSONEventData, type RecordedEvent as StoredEvent } from '@eventstore/db-client'
import type { Json, Metadata, NewEvent, Position, RecordedEvent } from '#domain/event.ts'

type CommitPosition = { readonly commit: bigint; readonly prepare: bigint }

/** As many digits as the greatest 64-bit number has, so that positions compare as strings. */
const digits = 20

const padded = (number: bigint) => String(number).padStart(digits, '0')

/** The only function that makes positions of this adapter, so the cast is correct. */
export const toPosition = ({ commit, prepare }: CommitPosition) => `${padded(commit)}/${padded(prepare)}` as Position

export const commitPositionOf = (position: Position): CommitPosition => {
  const [, commit, prepare] = /^(\d{20})\/(\d{20})$/.exec(position) ?? []
  if (!commit || !prepare) throw new RangeError(`Not a position of this log: ${JSON.stringify(position)}.`)
  return { commit: BigInt(commit), prepare: BigInt(prepare) }
}

/** Bytes of the transaction file. */
export const measure = (position: Position) => Number(commitPositionOf(position).commit)

/** Before every event. */
export const beginning = toPosition({ commit: 0n, prepare: 0n })

/** Throws on data that is no JSON: within the client it would not be caught, and the append would never end. */
export const toProposed = ({ id, type, schema_version, data, metadata }: NewEvent): JSONEventData => {
  JSON.stringify(data)
  return jsonEvent({ id, type, data, metadata: { ...metadata, schema_version } })
}

/** EventStoreDB keeps events of its own in streams, and of types, that begin with `$`. */
export const isSystemEvent = ({ streamId, type }: Pick<StoredEvent<EventType>, 'streamId' | 'type'>) =>
  streamId.startsWith('$') || type.startsWith('$')

export const positionOf = ({ id, position }: StoredEvent<EventType>): Position => {
  if (!position)
    throw new Error(
      `EventStoreDB did not answer with the position of event ${id}. It must be of version 22.6 or later.`,
    )
  return toPosition(position)
}

export const toRecorded = (event: StoredEvent<EventType>): RecordedEvent => ({
  id: event.id,
  type: event.type,
  ...describedBy(event),
  data: asJson(event.data),
  stream: event.streamId,
  revision: Number(event.revision),
  position: positionOf(event),
  recorded_at: event.created,
})

/** Our own metadata was checked when it was written. What others wrote has none, and counts as a first version. */
const describedBy = ({
  id,
  created,
  metadata,
}: StoredEvent<EventType>): Pick<NewEvent, 'schema_version' | 'metadata'> => {
  const stored: Json = isObject(metadata) ? metadata : {}
  const { schema_version, ...ours } = stored
  if (typeof schema_version === 'number') return { schema_version, metadata: ours as Metadata }
  const occurred_at = created.toISOString()
  const actor = { type: 'system', id: null } as const
  return {
    schema_version: 1,
    metadata: { organisation_id: null, actor, correlation_id: id, causation_id: null, occurred_at },
  }
}

const asJson = (data: unknown): Json => {
  if (isObject(data)) return data
  return { value: data instanceof Uint8Array ? Buffer.from(data).toString('base64') : data }
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)
