import { eventLogContract, type LogUnderTest } from '../event-log/contract.ts'
import { dropConnections } from '../event-log/postgres-log.ts'
import { sealedDatabase } from './sealed-log-fixture.ts'

const makeLog = async (): Promise<LogUnderTest> => {
  const { log, database, [Symbol.asyncDispose]: dispose } = await sealedDatabase()
  return { log, dropConnections: () => dropConnections(database.url), [Symbol.asyncDispose]: dispose }
}

eventLogContract('the sealed event log', makeLog)
