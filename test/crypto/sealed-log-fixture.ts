import { KeyObject, randomBytes } from 'node:crypto'
import type { Pool } from 'pg'
import { z } from 'zod'
import { event, personal, type EventShapes } from '#domain/event.ts'
import { makeDataKeys, type FoundKey } from '#infra/crypto/data-keys.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { sealedLog } from '#infra/crypto/sealed-log.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { postgresLog } from '#infra/event-log/postgres/postgres-log.ts'
import { preparedDatabase } from '../event-log/postgres-log.ts'
import { wholeLog } from '../event-log/whole-log.ts'

/** The events of the tests of event logs, and two of persons. */
export const shapes: EventShapes = {
  SomethingHappened: event({ number: personal(z.number()) }),
  PersonSaved: event({
    person_id: z.string(),
    name: personal(z.string()),
    note: personal(z.string()).nullable(),
    step: z.number(),
  }),
  PersonKnown: event({ person_id: z.string(), name: personal(z.string()) }, { subject: ({ person_id }) => person_id }),
}

/** Keys by id as bytes, which can be compared. */
export const bytesOf = (keys: Iterable<readonly [id: string, key: FoundKey]>) =>
  new Map([...keys].map(([id, key]) => [id, key instanceof KeyObject ? key.export() : key]))

/** A sealed log over another, its keys, and the log as another process has it, which remembers no key. */
export const sealedOver = (plain: EventLog, pool: Pool, keys = deriveKeys(randomBytes(32).toString('base64'))) => {
  const dataKeys = makeDataKeys({ pool, keys })
  const options = { allowsOtherTypes: true }
  return {
    keys,
    dataKeys,
    log: sealedLog(plain, dataKeys, shapes, options),
    elsewhere: () => sealedLog(plain, makeDataKeys({ pool, keys }), shapes, options),
  }
}

/** A sealed log on a database of its own, the log beneath it, and the keys. */
export const sealedDatabase = async () => {
  const database = await preparedDatabase()
  const plain = wholeLog(postgresLog({ url: database.url }), database.pool)
  return {
    database,
    plain,
    ...sealedOver(plain, database.pool),
    [Symbol.asyncDispose]: async () => {
      await plain.close()
      await database[Symbol.asyncDispose]()
    },
  }
}
