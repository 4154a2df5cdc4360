import type { Pool } from 'pg'
import { storedEvents } from '#domain/stored-events.ts'
import { makeDataKeys } from '#infra/crypto/data-keys.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { sealedLog } from '#infra/crypto/sealed-log.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'

// The same in every process of a run.
const masterKey = Buffer.alloc(32, 'a master key of the bench').toString('base64')

/** A log with the layer that seals personal data, as the service has it. */
export const sealed = (log: EventLog, pool: Pool): EventLog =>
  sealedLog(log, makeDataKeys({ pool, keys: deriveKeys(masterKey) }), storedEvents)
