import { hash } from 'node:crypto'
import { canonicalJson } from '#domain/canonical-json.ts'
import type { RecordedEvent } from '#domain/event.ts'

const digest = (value: unknown): string => hash('sha256', canonicalJson(value))

/**
 * The leaf of an event, as it is stored: canonical JSON (RFC 8785), the same wherever the event is kept. Its position is no
 * part of it, since another log counts otherwise; its order is that of the leaves.
 */
export const leafRecord = (event: RecordedEvent): Buffer =>
  Buffer.from(
    canonicalJson({
      stream: event.stream,
      revision: event.revision,
      event_id: event.id,
      type: event.type,
      schema_version: event.schema_version,
      recorded_at_ms: event.recorded_at.getTime(),
      data_sha256: digest(event.data),
      metadata_sha256: digest(event.metadata),
    }),
  )
