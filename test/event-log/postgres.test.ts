import { Client } from 'pg'
import { postgresLog, prepareLog } from '#infra/event-log-postgres.ts'
import { testDatabase } from '../database.ts'
import { eventLogContract, type LogUnderTest } from './contract.ts'

const makeLog = async (): Promise<LogUnderTest> => {
  const database = await testDatabase()
  await prepareLog(database.pool)
  const log = postgresLog({ url: database.url })
  return {
    log,
    dropConnections: async () => {
      const client = new Client({ connectionString: database.url })
      await client.connect()
      await client.query(`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`)
      await client.end()
    },
    [Symbol.asyncDispose]: async () => {
      await log.close()
      await database[Symbol.asyncDispose]()
    },
  }
}

eventLogContract('the event log in PostgreSQL', makeLog)
