import type { EventLog } from '#infra/event-log/event-log.ts'

export type LogUnderTest = {
  readonly log: EventLog
  /** Breaks every connection that the log has at this moment. */
  readonly dropConnections: () => Promise<void>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

export type MakeLog = () => Promise<LogUnderTest>
