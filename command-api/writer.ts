import { LRUCache } from 'lru-cache'
import type { Position } from '#domain/event.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { Problem } from '#infra/http/problem.ts'
import { approximateBytes } from '#infra/size.ts'

/** A stream folded by its decider. */
export type Loaded<State = unknown> = {
  readonly state: State
  /** The last revision that was folded; undefined when the stream has no events. */
  readonly revision: number | undefined
  /** By reaction, the highest position of a cause because of which it has appended: as many as there are reactions. */
  readonly causes: Causes
  /** Something was appended since that is to be read before the next decision. */
  readonly isBehind?: true
}

export type Cache = LRUCache<string, Loaded>

export type Causes = Readonly<Record<string, string>>

/**
 * What commands write with. Everything that writes in a process shares one, so that a stream is cached once and has one
 * queue, however many routes and reactions write to it.
 */
export type Writer = {
  readonly log: EventLog
  /** Waits until the read models show what was written at a position. */
  readonly seen: (stream: string, position: Position) => Promise<void>
  /**
   * The streams that are remembered. Whoever begins with one keeps to it: after `forget` there is another, so that nothing
   * of the data of a person who was erased meanwhile gets into it.
   */
  readonly cache: () => Cache
  /** Forgets all that was made of personal data: somebody was erased. */
  readonly forget: () => void
  /** Calls a function when all is to be forgotten. */
  readonly onForget: (listener: () => void) => void
  /** The decider that folds the streams of a category: there is one, since all share the cache. */
  readonly deciders: Map<string, object>
  readonly inTurn: ReturnType<typeof turns>
}

type Bounds = {
  readonly cacheBytes?: number
  /** So many commands for one stream may wait for another; 100 by default. */
  readonly waitingMost?: number
}

export const makeWriter = (
  { log, seen }: Pick<Writer, 'log' | 'seen'>,
  { cacheBytes = 64 * 2 ** 20, waitingMost = 100 }: Bounds = {},
): Writer => {
  const makeCache = (): Cache =>
    new LRUCache({ maxSize: cacheBytes, sizeCalculation: (loaded) => approximateBytes(loaded) })
  let cache = makeCache()
  const listeners: (() => void)[] = []
  return {
    log,
    seen,
    cache: () => cache,
    forget: () => {
      cache = makeCache()
      for (const listener of listeners) listener()
    },
    onForget: (listener) => listeners.push(listener),
    deciders: new Map(),
    inTurn: turns(waitingMost),
  }
}

/**
 * Lets work on the same stream wait for each other, so that the writers of one process do not make each other try again.
 * Work that finds too many others waiting is refused.
 */
const turns = (waitingMost: number) => {
  const queues = new Map<string, { last: Promise<unknown>; length: number }>()

  return async <Result>(stream: string, work: () => Promise<Result>): Promise<Result> => {
    const queue = queues.get(stream) ?? { last: Promise.resolve(), length: 0 }
    if (queue.length > waitingMost) throw tooManyAtOnce()
    const turn = queue.last.then(work, work)
    queue.last = turn
    queue.length++
    queues.set(stream, queue)
    try {
      return await turn
    } finally {
      queue.length--
      if (queue.length === 0) queues.delete(stream)
    }
  }
}

export const tooManyAtOnce = () =>
  new Problem('unavailable', 'Too many requests change this at the same time. Send the request again.', {
    headers: { 'Retry-After': '1' },
  })
