import { describe } from 'vitest'
import { appendContract } from './contract-append.ts'
import { contentContract } from './contract-content.ts'
import { readContract } from './contract-read.ts'
import { subscribeContract } from './contract-subscribe.ts'
import type { MakeLog } from './log-under-test.ts'

export type { LogUnderTest } from './log-under-test.ts'

/** What every event log promises. The log may hold other events: each test has streams and categories of its own. */
export const eventLogContract = (name: string, makeLog: MakeLog) =>
  describe(name, () => {
    appendContract(makeLog)
    readContract(makeLog)
    contentContract(makeLog)
    subscribeContract(makeLog)
  })
