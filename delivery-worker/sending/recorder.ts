import { setTimeout as pause } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { Log } from '#infra/log.ts'
import { recordHealth, recordStandings, type Health, type Standing } from '../endpoints/endpoints.ts'
import { complete, type Completed } from './queue.ts'

const tryAgainMs = 200
const triesWhenStopping = 3
/** A statement costs as much as 15 deliveries in it. */
const worthAStatement = 32
const gatherMs = 5

/**
 * Records the outcomes of sends and the states of connections, many in one statement. It waits a moment for more of them
 * while there are that many under way.
 */
export const makeRecorder = (pool: Pool, log: Log, underWay: () => number) => {
  let completed: Completed[] = []
  let standings = new Map<string, Standing>()
  let health = new Map<string, Health>()
  let running: Promise<void> | undefined
  let triesLeft = Infinity

  const record = async () => {
    const [batch, standing, ends] = [completed, standings, health]
    completed = []
    standings = new Map()
    health = new Map()
    try {
      if (batch.length > 0) await complete(pool, batch)
      batch.length = 0
      if (standing.size > 0) await recordStandings(pool, standing)
      standing.clear()
      if (ends.size > 0) await recordHealth(pool, ends)
    } catch (error) {
      log.error({ error, deliveries: batch.length }, 'ends of deliveries could not be recorded, trying again')
      completed = [...batch, ...completed]
      standings = new Map([...standing, ...standings])
      health = new Map([...ends, ...health])
      triesLeft--
      if (triesLeft > 0) await pause(tryAgainMs)
    }
  }

  const gather = async (): Promise<void> => {
    const soon = completed.length + underWay()
    if (completed.length < worthAStatement && soon >= worthAStatement) await pause(gatherMs)
  }

  const run = async () => {
    await gather()
    while ((completed.length > 0 || standings.size > 0 || health.size > 0) && triesLeft > 0) {
      await record()
      await gather()
    }
    running = undefined
  }

  return {
    ended: (delivery: Completed): void => {
      completed.push(delivery)
      running ??= run()
    },
    stands: (connection_id: string, standing: Standing): void => {
      standings.set(connection_id, standing)
      running ??= run()
    },
    /** Notes the end of a send over a connection that is disabled when it fails for too long. */
    ends: (connection_id: string, how: Health): void => {
      health.set(connection_id, how)
      running ??= run()
    },
    /** A delivery whose end cannot be recorded now is sent again when its lease ends. */
    stop: async (): Promise<void> => {
      triesLeft = triesWhenStopping
      await running
    },
  }
}
