import { setTimeout as pause } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { Log } from '#infra/log.ts'
import { notifier } from '#infra/notifier.ts'
import { claim, complete, type Claimed, type Completed, type Room } from './queue.ts'
import { bodyOf, readSnapshots } from './snapshot.ts'

export type SenderParts = {
  readonly pool: Pool
  readonly log: Log
  readonly now: () => Date
  readonly send: (claimed: Claimed, body: string | undefined) => Promise<Completed>
  /** Deliveries that are sent at the same time. */
  readonly concurrency: number
}

const pollMs = 250
/** After news, it takes a moment until they are committed and the read models have passed them. */
const eagerPollMs = 10
const eagerForMs = 1000
const slowMs = 2000
const finishWithinMs = 8000

/**
 * Sends what is due, so many at the same time. A connection never has all of the places, and one that last gave no answer
 * or was slow has two: a dead receiver does not hold up the others.
 */
export const startSender = ({ pool, log, now, send, concurrency }: SenderParts) => {
  const inFlight = new Map<string, number>()
  const troubled = new Set<string>()
  const roomOfOne = Math.max(1, Math.ceil(concurrency * 0.75))
  const roomOfTroubled = Math.min(2, roomOfOne)
  const changes = notifier()
  const finishing = recorder(pool, log)
  const sends = new Set<Promise<void>>()
  let lastClaimed = 1
  let freed = 0
  let eagerUntil = 0
  let isStopping = false
  let isAbandoned = false
  let problem: string | undefined

  const room = (): Room => {
    const limited = new Set([...inFlight.keys(), ...troubled])
    const roomLeft = (connection: string) =>
      (troubled.has(connection) ? roomOfTroubled : roomOfOne) - (inFlight.get(connection) ?? 0)
    return {
      total: concurrency - sends.size,
      connection: roomOfOne,
      except: new Map([...limited].map((connection) => [connection, Math.max(0, roomLeft(connection))])),
    }
  }

  const sendOne = async (claimed: Claimed, body: string | undefined): Promise<void> => {
    const { connection_id } = claimed
    const startedAt = performance.now()
    inFlight.set(connection_id, (inFlight.get(connection_id) ?? 0) + 1)
    const completed = await send(claimed, body)
    const left = (inFlight.get(connection_id) ?? 1) - 1
    if (left > 0) inFlight.set(connection_id, left)
    else inFlight.delete(connection_id)

    // Cut off by our own stopping: nobody knows whether it arrived, so whoever takes the row over sends it again.
    if (isAbandoned) return
    if (completed.outcome === 'unanswered' || performance.now() - startedAt > slowMs) troubled.add(connection_id)
    else troubled.delete(connection_id)
    finishing.add(completed)
  }

  /** Takes what there is room for and begins to send it; how many that were. */
  const begin = async (): Promise<number> => {
    const claimed = await claim(pool, room(), now())
    if (claimed.length === 0) return 0
    const snapshotOf = await readSnapshots(pool, claimed)
    for (const each of claimed) {
      const sending = sendOne(each, bodyOf(each.message, snapshotOf(each), now())).then(() => {
        sends.delete(sending)
        if (++freed >= Math.min(concurrency / 2, lastClaimed)) changes.notify()
      })
      sends.add(sending)
    }
    return claimed.length
  }

  const run = async () => {
    while (!isStopping) {
      let begun = 0
      try {
        freed = 0
        begun = sends.size < concurrency ? await begin() : 0
        lastClaimed = Math.max(1, begun)
        problem = undefined
      } catch (error) {
        problem = error instanceof Error ? error.message : String(error)
        log.error({ error }, 'deliveries could not be taken, trying again')
        await pause(1000)
      }
      const isEager = begun === 0 && performance.now() < eagerUntil
      await changes.wait(isEager ? eagerPollMs : pollMs)
    }
  }
  const running = run()

  return {
    /** In a moment there will be something to send. */
    notify: (): void => {
      eagerUntil = performance.now() + eagerForMs
      changes.notify()
    },
    /** What keeps it from working; undefined when nothing does. */
    problem: (): string | undefined => problem,
    /** Takes nothing more and lets what is being sent finish, as far as there is time. */
    stop: async (): Promise<void> => {
      isStopping = true
      changes.notify()
      await running
      await Promise.race([Promise.all(sends), pause(finishWithinMs, undefined, { ref: false })])
      isAbandoned = true
      await finishing.stop()
    },
  }
}

/** Writes down how sends ended, many in one statement while the one before is under way. */
const recorder = (pool: Pool, log: Log) => {
  let waiting: Completed[] = []
  let running: Promise<void> | undefined
  let triesLeft = Infinity

  const run = async () => {
    while (waiting.length > 0 && triesLeft > 0) {
      const batch = waiting
      waiting = []
      try {
        await complete(pool, batch)
      } catch (error) {
        log.error({ error, deliveries: batch.length }, 'ends of deliveries could not be written down, trying again')
        waiting = [...batch, ...waiting]
        triesLeft--
        if (triesLeft > 0) await pause(200)
      }
    }
    running = undefined
  }

  return {
    add: (completed: Completed): void => {
      waiting.push(completed)
      running ??= run()
    },
    /** What cannot be written down now is sent again when its lease ends. */
    stop: async (): Promise<void> => {
      triesLeft = 3
      await running
    },
  }
}
