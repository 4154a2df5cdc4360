import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test, vi } from 'vitest'
import type { Position, RecordedEvent } from '#domain/event.ts'
import type { Batch, Subscription } from '#infra/event-log/event-log.ts'
import { runProjection } from '../../projections/runner.ts'
import { newEvent, tallies } from './tally.ts'
import { raised, tallyId, through, fixture } from './fixture.ts'

const total = 200_000
const streams = 500

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const event = (number: number): RecordedEvent => ({
  ...newEvent(raised()),
  stream: `tally-${tallyId(number % streams)}`,
  revision: Math.floor(number / streams),
  position: String(number).padStart(20, '0') as Position,
  recorded_at: new Date(),
})

test('over 200,000 events, memory holds no more than what is being handled', { timeout: 120_000 }, async () => {
  await using the = await fixture()
  let underWay = 0
  let most = 0
  const used: number[] = []
  const long = through(the.eventLog, async function* (_batches, { batchSize = 1_000, signal }: Subscription) {
    for (let from = 1; from <= total && !signal.aborted; from += batchSize) {
      const events = Array.from({ length: Math.min(batchSize, total - from + 1) }, (_, index) => event(from + index))
      const position = events.at(-1)?.position
      if (!position) return
      const batch: Batch = { events, position, caughtUp: from + batchSize > total }
      most = Math.max(most, ++underWay)
      yield batch
      underWay--
      const isFifth = from === 4 * batchSize + 1
      if (!isFifth && !batch.caughtUp) continue
      collect()
      used.push(process.memoryUsage().heapUsed / 2 ** 20)
    }
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
  })

  const running = the.makeProcess('long', long).run((parts) => runProjection(tallies, parts))

  await vi.waitFor(() => expect(running.status().position).toBe(event(total).position), { timeout: 100_000 })
  const { rows } = await the.pool.query<{ counted: number }>('select sum(changes)::integer as counted from tallies')
  expect(rows).toEqual([{ counted: total }])
  expect(most).toBe(1)
  const [early = 0, late = 0] = used
  expect(used).toHaveLength(2)
  expect(late - early).toBeLessThan(10)
})
