import { boundedCalls } from '#infra/bounded-calls.ts'
import { Problem } from '#infra/http/problem.ts'
import { withTimeout } from '#infra/timeout.ts'

const mostWaiting = 20
/** Those of one organisation leave room for others. */
const mostOfOne = 5
const waitMs = 10_000

const busy = () =>
  new Problem('unavailable', 'Too many look into the past at the moment. Send the request again.', {
    headers: { 'Retry-After': '5' },
  })

/** So many at once; whoever comes when all turns are taken waits, and only so many do. */
export const makeTurns = (count: number) => {
  const waiting: (() => void)[] = []
  const bounded = boundedCalls({ all: count + mostWaiting, each: mostOfOne })
  let taken = 0

  const take = async (): Promise<void> => {
    if (taken < count) {
      taken++
      return
    }
    if (waiting.length >= mostWaiting) throw busy()
    const turn = Promise.withResolvers<void>()
    waiting.push(turn.resolve)
    await withTimeout(turn.promise, waitMs, busy).catch((error: unknown) => {
      const place = waiting.indexOf(turn.resolve)
      // It came in this very moment.
      if (place === -1) return
      waiting.splice(place, 1)
      throw error
    })
  }
  const leave = (): void => {
    const next = waiting.shift()
    if (next) next()
    else taken--
  }
  const inTurn = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    await take()
    try {
      return await work()
    } finally {
      leave()
    }
  }

  return async <Result>(organisation_id: string, work: () => Promise<Result>): Promise<Result> => {
    const answered = await bounded(organisation_id, async () => ({ result: await inTurn(work) }))
    if (!answered) throw busy()
    return answered.result
  }
}
