import { afterAll, beforeAll } from 'vitest'
import { postgresLog } from '#infra/event-log/postgres/postgres-log.ts'
import type { TestDatabase } from '../database.ts'
import { eventLogContract, type LogUnderTest } from './contract.ts'
import { dropConnections, preparedDatabase } from './postgres-log.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await preparedDatabase()
})
afterAll(() => database[Symbol.asyncDispose]())

const makeLog = (): Promise<LogUnderTest> => {
  const log = postgresLog({ url: database.url })
  const { url } = database
  return Promise.resolve({ log, dropConnections: () => dropConnections(url), [Symbol.asyncDispose]: log.close })
}

eventLogContract('the event log in PostgreSQL', makeLog)
