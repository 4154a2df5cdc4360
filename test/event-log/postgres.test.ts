import { postgresLog } from '#infra/event-log/postgres/postgres-log.ts'
import { eventLogContract, type LogUnderTest } from './contract.ts'
import { dropConnections, preparedDatabase } from './postgres-log.ts'

const makeLog = async (): Promise<LogUnderTest> => {
  const database = await preparedDatabase()
  const log = postgresLog({ url: database.url })
  return {
    log,
    dropConnections: () => dropConnections(database.url),
    [Symbol.asyncDispose]: async () => {
      await log.close()
      await database[Symbol.asyncDispose]()
    },
  }
}

eventLogContract('the event log in PostgreSQL', makeLog)
