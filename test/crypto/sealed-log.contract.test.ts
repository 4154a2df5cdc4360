import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll } from 'vitest'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { postgresLog } from '#infra/event-log/postgres/postgres-log.ts'
import type { TestDatabase } from '../database.ts'
import { eventLogContract, type LogUnderTest } from '../event-log/contract.ts'
import { dropConnections, preparedDatabase } from '../event-log/postgres-log.ts'
import { sealedOver } from './sealed-log-fixture.ts'

const keys = deriveKeys(randomBytes(32).toString('base64'))
let database: TestDatabase
beforeAll(async () => {
  database = await preparedDatabase()
})
afterAll(() => database[Symbol.asyncDispose]())

const makeLog = (): Promise<LogUnderTest> => {
  const plain = postgresLog({ url: database.url })
  const { log } = sealedOver(plain, database.pool, keys)
  const { url } = database
  return Promise.resolve({ log, dropConnections: () => dropConnections(url), [Symbol.asyncDispose]: plain.close })
}

eventLogContract('the sealed event log', makeLog)
