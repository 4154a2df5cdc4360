import { randomBytes, type KeyObject } from 'node:crypto'
import { z } from 'zod'
import { event, personal, type EventShapes } from '#domain/event.ts'
import { makeDataKeys } from '#infra/crypto/data-keys.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { sealedLog } from '#infra/crypto/sealed-log.ts'
import { postgresLog } from '#infra/event-log/postgres/postgres-log.ts'
import { preparedDatabase } from '../event-log/postgres-log.ts'

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
export const bytesOf = (keys: Iterable<readonly [id: string, key: KeyObject | 'erased']>) =>
  new Map([...keys].map(([id, key]) => [id, key === 'erased' ? key : key.export()]))

/** A sealed log on a database of its own, the log beneath it, and the keys. */
export const sealedDatabase = async () => {
  const database = await preparedDatabase()
  const keys = deriveKeys(randomBytes(32).toString('base64'))
  const plain = postgresLog({ url: database.url })
  const dataKeys = makeDataKeys({ pool: database.pool, keys })
  return {
    database,
    keys,
    plain,
    dataKeys,
    log: sealedLog(plain, dataKeys, shapes, { allowsOtherTypes: true }),
    /** The log as another process has it, which remembers no key. */
    elsewhere: () => sealedLog(plain, makeDataKeys({ pool: database.pool, keys }), shapes, { allowsOtherTypes: true }),
    [Symbol.asyncDispose]: async () => {
      await plain.close()
      await database[Symbol.asyncDispose]()
    },
  }
}
