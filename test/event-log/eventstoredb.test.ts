import { afterAll, beforeAll } from 'vitest'
import { eventStoreDbLog } from '#infra/event-log/eventstoredb/eventstoredb-log.ts'
import { eventStoreDbTarget, type EventStoreDbTarget } from '../eventstoredb/target.ts'
import { eventLogContract, type LogUnderTest } from './contract.ts'

let target: EventStoreDbTarget
beforeAll(async () => {
  target = await eventStoreDbTarget()
}, 180_000)
afterAll(() => target[Symbol.asyncDispose]())

const makeLog = (): Promise<LogUnderTest> => {
  const log = eventStoreDbLog(target.url)
  return Promise.resolve({ log, dropConnections: target.dropConnections, [Symbol.asyncDispose]: log.close })
}

eventLogContract('the event log in EventStoreDB', makeLog)
