import type { MessageToProduce } from '@platformatic/kafka'
import { z } from 'zod'
import type { Json, Metadata, Position, RecordedEvent } from '#domain/event.ts'
import { partitionOf, type Topic } from './topic.ts'

/** An event of a topic. Without an event it was too large for a message, and is read from the log. */
export type Message = {
  readonly position: Position
  /** That of the event before it in its partition; empty when it is the first. */
  readonly previous: string
  readonly type: string
  readonly stream: string
  readonly revision: number
  readonly event: RecordedEvent | undefined
}

/** Below what a broker takes by default, so that a topic which somebody else made takes it too. */
const valueMaxBytes = 900_000

const header = (name: string, value: string): [Buffer, Buffer] => [Buffer.from(name), Buffer.from(value)]

/** The message of an event, as it is stored: what is personal in it is sealed. */
export const toMessage = (
  { name, partitions }: Topic,
  event: RecordedEvent,
  previous: string,
): MessageToProduce & { readonly value: Buffer; readonly partition: number } => {
  const { stream, revision, position, type, metadata } = event
  const whole = Buffer.from(JSON.stringify(event))
  return {
    topic: name,
    partition: partitionOf(stream, partitions),
    key: Buffer.from(stream),
    value: whole.length <= valueMaxBytes ? whole : Buffer.from(JSON.stringify({ ...event, data: null })),
    timestamp: BigInt(event.recorded_at.getTime()),
    headers: new Map([
      header('type', type),
      header('position', position),
      header('previous', previous),
      header('organisation', metadata.organisation_id ?? ''),
      header('stream', stream),
      header('revision', String(revision)),
    ]),
  }
}

const json = z.custom<Json>((value) => typeof value === 'object' && value !== null)
const Headers = z.object({
  type: z.string(),
  position: z.string().transform((position) => position as Position),
  previous: z.string(),
  stream: z.string(),
  revision: z.coerce.number().int(),
})
// What the log has checked when it was appended.
const Value = z.object({
  id: z.string(),
  schema_version: z.number(),
  data: json.nullable(),
  metadata: json.transform((metadata) => metadata as Metadata),
  recorded_at: z.string().transform((text) => new Date(text)),
})

export type KafkaRecord = {
  readonly value: Buffer | null
  readonly headers: readonly (readonly [Buffer | null, Buffer | null])[]
}

/** Reads a record of the topic; undefined when the relay has not published it. */
export const fromRecord = ({ value, headers }: KafkaRecord): Message | undefined => {
  const named = Object.fromEntries(headers.map(([name, text]) => [String(name), String(text)]))
  const head = Headers.safeParse(named)
  const body = Value.safeParse(parsed(value))
  if (!head.success || !body.success) return undefined
  const { type, position, previous, stream, revision } = head.data
  const { data, ...rest } = body.data
  const event = data === null ? undefined : { ...rest, data, type, position, stream, revision }
  return { type, position, previous, stream, revision, event }
}

const parsed = (value: Buffer | null): unknown => {
  try {
    return JSON.parse(String(value)) as unknown
  } catch {
    return undefined
  }
}
