import fc from 'fast-check'
import { expect, test } from 'vitest'
import { attemptsMax, nextDelay, verdictOn } from '../../delivery-worker/sending/backoff.ts'

/** What a receiver may do with an attempt. */
type Receiver =
  | {
      readonly does: 'answer'
      readonly status: number
      readonly retryAfterSeconds?: number
      readonly tookSeconds: number
    }
  | { readonly does: 'nothing'; readonly tookSeconds: number }

/** The specification's own words, as simple as they are: no more than the rules. */
const model = {
  isDelivered: (receiver: Receiver) => receiver.does === 'answer' && receiver.status >= 200 && receiver.status <= 299,
  isTriedAgain: (receiver: Receiver) =>
    receiver.does === 'nothing' || receiver.status === 429 || (receiver.status >= 500 && receiver.status <= 599),
}

const receiver: fc.Arbitrary<Receiver> = fc.oneof(
  fc.record({
    does: fc.constant('answer' as const),
    status: fc.oneof(fc.integer({ min: 200, max: 599 }), fc.constantFrom(429, 500, 503)),
    tookSeconds: fc.double({ min: 0, max: 15, noNaN: true }),
  }),
  fc.record({
    does: fc.constant('answer' as const),
    status: fc.constantFrom(429, 503),
    retryAfterSeconds: fc.double({ min: 0, max: 100_000, noNaN: true }),
    tookSeconds: fc.double({ min: 0, max: 15, noNaN: true }),
  }),
  fc.record({ does: fc.constant('nothing' as const), tookSeconds: fc.double({ min: 0, max: 15, noNaN: true }) }),
)

const exchangeWith = (receiver: Receiver) =>
  receiver.does === 'nothing'
    ? ({ outcome: 'unanswered', reason: 'ECONNREFUSED' } as const)
    : ({ outcome: 'answered', status: receiver.status, header: () => undefined, body: Buffer.alloc(0) } as const)

/** Sends to a receiver under a clock that moves only when something takes time. */
const deliver = (receivers: readonly Receiver[], chance: number) => {
  let clockSeconds = 0
  let waitedSeconds = 0
  const attempts: { readonly at: number; readonly receiver: Receiver }[] = []
  for (const receiver of receivers) {
    attempts.push({ at: clockSeconds, receiver })
    clockSeconds += receiver.tookSeconds
    const verdict = verdictOn(exchangeWith(receiver))
    if (verdict !== 'retry') return { attempts, state: verdict, clockSeconds, waitedSeconds }
    const delay = nextDelay({
      sent: attempts.length,
      waitedSeconds,
      chance,
      askedSeconds: receiver.does === 'answer' ? receiver.retryAfterSeconds : undefined,
    })
    if (!delay) return { attempts, state: 'failed' as const, clockSeconds, waitedSeconds }
    clockSeconds += delay.seconds
    waitedSeconds = delay.waitedSeconds
  }
  throw new Error('There were more attempts than receivers.')
}

const chance = fc.double({ min: 0, max: 1, noNaN: true })
// One more than may ever be needed.
const receivers = fc.array(receiver, { minLength: attemptsMax + 1, maxLength: attemptsMax + 1 })

test('a delivery is sent until it arrives, is refused, or five attempts are over, and then never again', () => {
  fc.assert(
    fc.property(receivers, chance, (all, chosen) => {
      const { attempts, state } = deliver(all, chosen)

      const last = attempts.at(-1)?.receiver
      const earlier = attempts.slice(0, -1).map(({ receiver }) => receiver)
      expect(earlier.every(model.isTriedAgain)).toBe(true)
      expect(attempts.length).toBeLessThanOrEqual(5)
      expect(last && model.isDelivered(last)).toBe(state === 'delivered')
      if (last && model.isTriedAgain(last)) expect(attempts).toHaveLength(5)
    }),
    { numRuns: 2_000 },
  )
})

test('all waits together are about six minutes, whatever receivers ask for, and no attempt follows at once', () => {
  fc.assert(
    fc.property(receivers, chance, (all, chosen) => {
      const { attempts, clockSeconds } = deliver(all, chosen)

      const took = attempts.reduce((sum, { receiver }) => sum + receiver.tookSeconds, 0)
      expect(clockSeconds - took).toBeLessThan(385.01)
      for (const [index, { at }] of attempts.entries()) {
        const before = attempts[index - 1]
        if (before) expect(at - before.at - before.receiver.tookSeconds).toBeGreaterThan(8.99)
      }
    }),
    { numRuns: 2_000 },
  )
})

test('a receiver that asks for more time gets it, as far as the rest of the six minutes allows', () => {
  fc.assert(
    fc.property(receivers, chance, (all, chosen) => {
      const { attempts } = deliver(all, chosen)

      let waited = 0
      for (const [index, { at, receiver }] of attempts.entries()) {
        const next = attempts[index + 1]
        if (!next) return
        const delay = next.at - at - receiver.tookSeconds
        const asked = receiver.does === 'answer' ? (receiver.retryAfterSeconds ?? 0) : 0
        // Ten seconds are left for each attempt after the next one.
        const most = 350 - waited - 10 * (3 - index)
        // Jitter makes a wait up to a tenth shorter than what is counted for it.
        expect(delay + 0.1 * 350).toBeGreaterThanOrEqual(Math.min(asked, most))
        waited += delay
      }
    }),
    { numRuns: 2_000 },
  )
})
