import { setTimeout as pause } from 'node:timers/promises'
import { Consumer } from '@platformatic/kafka'
import { outageWatch } from '../event-log/outage.ts'
import type { Log } from '../log.ts'
import { closed } from './closed.ts'
import { called } from './failures.ts'
import type { KafkaSettings } from './settings.ts'
import type { Topic } from './topic.ts'

type GroupParts = {
  readonly settings: KafkaSettings
  readonly topic: Topic
  readonly groupId: string
  readonly log: Log
  readonly signal: AbortSignal
  /** Called with the partitions that this process shall work on from now on. */
  readonly onAssigned: (partitions: readonly number[]) => void
}

const lookMs = 200

/**
 * Takes part in a consumer group, which shares the partitions of a topic between processes. Without a sign of life from the
 * brokers for as long as they wait for one from us, all partitions are given up: others have them by now.
 */
export const joinGroup = (parts: GroupParts) => {
  const { log, signal, groupId, onAssigned } = parts
  const outage = outageWatch()

  const isOver = () => signal.aborted

  const run = async () => {
    let failures = 0
    while (!isOver()) {
      try {
        await takePart(parts, () => {
          failures = 0
          outage.succeeded()
        })
      } catch (error) {
        outage.failed(error)
        log.warn({ error, group: groupId }, 'not in the consumer group, joining again')
      }
      onAssigned([])
      if (!isOver()) await pause(Math.min(100 * 2 ** failures++, 2_000), undefined, { signal }).catch(() => undefined)
    }
  }
  return { finished: run(), outage: outage.current }
}

const takePart = async (parts: GroupParts, onAlive: () => void): Promise<void> => {
  const { settings, topic, groupId, signal, onAssigned, log } = parts
  const { sessionMs, client } = settings
  const member = new Consumer({
    ...client,
    groupId,
    autocommit: false,
    sessionTimeout: sessionMs,
    rebalanceTimeout: sessionMs,
    heartbeatInterval: Math.max(100, Math.round(sessionMs / 5)),
    requestTimeout: 2 * sessionMs,
  })
  // It tells so that it could not join again, which would end the process if nobody listened.
  const failed = new AbortController()
  member.on('error', (error) => failed.abort(error))
  let aliveAt = performance.now()
  const isAlive = () => {
    aliveAt = performance.now()
    onAlive()
  }
  try {
    member.topics.track(topic.name)
    member.on('consumer:heartbeat:end', isAlive)
    member.on('consumer:group:join', ({ assignments = [] }) => {
      isAlive()
      const partitions = assignments.filter((each) => each.topic === topic.name).flatMap((each) => each.partitions)
      log.info({ group: groupId, partitions }, 'partitions assigned')
      onAssigned(partitions.filter((partition) => partition < topic.partitions))
    })
    await called('join the consumer group', member.joinGroup({}), 2 * sessionMs)
    while (!signal.aborted) {
      const silentMs = performance.now() - aliveAt
      failed.signal.throwIfAborted()
      if (silentMs > sessionMs) throw new Error(`no sign of life from the brokers for ${Math.round(silentMs)} ms`)
      await pause(lookMs, undefined, { signal }).catch(() => undefined)
    }
  } finally {
    onAssigned([])
    await closed(member)
  }
}
