import { categoryOf, type Position, type RecordedEvent } from '#domain/event.ts'
import type { Batch } from '../event-log.ts'
import { isUnavailable } from '../../postgres/postgres.ts'
import { start, type Filter, type LogReader, type BoundedPage } from './read.ts'
import { notifier } from '../../notifier.ts'

/** A subscription's part of what is new. */
export type Share = {
  /** What comes begins after this. */
  readonly from: Position
  /** What has come meanwhile, waiting for the first of it. Undefined: the reader was too slow to be waited for, or has left. */
  readonly next: () => Promise<Batch | undefined>
  readonly leave: () => void
}

type Member = {
  readonly passes: (event: RecordedEvent) => boolean
  readonly capacity: number
  readonly arrived: ReturnType<typeof notifier>
  events: RecordedEvent[]
  bytes: number
  position: Position
  caughtUp: boolean
  /** There is something, if only a new position, that was not taken yet. */
  hasNews: boolean
  isOver: boolean
  error: Error | undefined
}

const stretchEvents = 1_000
const waitingBytes = 8_000_000

/**
 * Reads what is new once for all subscriptions of the process that have caught up. A subscription whose reader is slower
 * than the log is let go, and catches up by reading for itself.
 */
export const sharedTail = (reader: Pick<LogReader, 'news'>, pollMs: number) => {
  const members = new Set<Member>()
  const changes = notifier()
  let position = start
  /** Up to here there are events, as we were told. While others write, they may not be settled yet. */
  let promised = start
  let isRunning = false

  const run = async () => {
    let fruitless = 0
    while (members.size > 0) {
      try {
        const news = await reader.news(position, stretchEvents)
        const last = news.events.at(-1)
        if (last) {
          position = last.position
          for (const member of members) hand(member, news, position)
        }
        fruitless = last ? 0 : fruitless + 1
        if (news.isWhole) await changes.wait(position < promised ? Math.min(2 ** fruitless, 50) : pollMs)
      } catch (error) {
        if (!isUnavailable(error))
          for (const member of members) end(member, new Error('The log cannot be read.', { cause: error }))
        await changes.wait(Math.min(50 * 2 ** ++fruitless, 2_000))
      }
    }
    isRunning = false
  }

  return {
    /** `head` is where the log ends, as the subscription has just read. */
    join: (head: Position, filter: Filter, capacity: number): Share => {
      if (!isRunning) position = head
      const member: Member = {
        passes: passes(filter),
        capacity,
        arrived: notifier(),
        events: [],
        bytes: 0,
        position,
        caughtUp: false,
        hasNews: false,
        isOver: false,
        error: undefined,
      }
      members.add(member)
      if (!isRunning) {
        isRunning = true
        void run()
      }
      const leave = () => {
        end(member)
        members.delete(member)
        if (members.size === 0) changes.notify()
      }
      return { from: position, next: () => nextOf(member), leave }
    },

    /** Something was appended, up to a position or an unknown one. */
    notify: (upTo?: Position) => {
      if (upTo && upTo <= position) return
      if (upTo && upTo > promised) promised = upTo
      changes.notify()
    },
  }
}

const passes = ({ categories, types }: Filter): ((event: RecordedEvent) => boolean) => {
  const ofCategory = categories && new Set(categories)
  const ofType = types && new Set(types)
  return ({ stream, type }) => (ofCategory?.has(categoryOf(stream)) ?? true) && (ofType?.has(type) ?? true)
}

const hand = (member: Member, { events, bytes, isWhole }: BoundedPage, position: Position) => {
  if (member.isOver) return
  const own = events.filter(member.passes)
  const ownBytes = (bytes * own.length) / events.length
  const isTooMuch = member.events.length + own.length > member.capacity || member.bytes + ownBytes > waitingBytes
  if (isTooMuch) return end(member)
  member.events.push(...own)
  member.bytes += ownBytes
  Object.assign(member, { position, caughtUp: isWhole, hasNews: true })
  member.arrived.notify()
}

const end = (member: Member, error?: Error) => {
  Object.assign(member, { isOver: true, error })
  member.arrived.notify()
}

const nextOf = async (member: Member): Promise<Batch | undefined> => {
  while (!member.hasNews && !member.isOver) await member.arrived.wait()
  if (member.hasNews) {
    const { events, position, caughtUp } = member
    Object.assign(member, { events: [], bytes: 0, hasNews: false })
    return { events, position, caughtUp: caughtUp && !member.isOver }
  }
  if (member.error) throw member.error
  return undefined
}
