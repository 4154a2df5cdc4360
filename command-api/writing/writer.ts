import { LRUCache } from 'lru-cache'
import type { Position } from '#domain/event.ts'
import { LogUnavailable, type EventLog } from '#infra/event-log/event-log.ts'
import { Problem } from '#infra/http/problem.ts'
import type { Size } from '#infra/size.ts'
import type { Approval } from './approval.ts'

/** A stream folded by its decider. */
export type Loaded<State = unknown> = {
  readonly state: State
  /** The last revision that was folded; undefined when the stream has no events. */
  readonly revision: number | undefined
  /** The highest position, by reaction, of a cause because of which it has appended: as many as there are reactions. */
  readonly causes: Causes
  /** About how many bytes of memory it takes; undefined where that is to be measured. */
  readonly size?: Size | undefined
  /** Something was appended since that is to be read before the next decision. */
  readonly isBehind?: true
  /** Something in it is read with empty values, because its key was destroyed. */
  readonly isPartlyErased?: true
}

export type Cache = LRUCache<string, Loaded & { readonly size: Size }>

export type Causes = Readonly<Record<string, string>>

/**
 * The parts with which commands write. Everything that writes in a process shares one, so that a stream is cached once and has
 * one queue, however many routes and reactions write to it.
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
  /** Set once, when the command side is made: what holds acts back until another user approves them. */
  approval: Approval | undefined
  /** Set once, too: true where the record of a stream was erased by itself. */
  isErased: ((stream: string, organisation_id: string) => Promise<boolean>) | undefined
}

type Bounds = {
  readonly cacheBytes?: number
  /** The most commands for one stream that may wait for another; 100 by default. */
  readonly waitingMost?: number
  /** The longest that one waits; 15 seconds by default. */
  readonly waitingMs?: number
}

export const makeWriter = (
  { log, seen }: Pick<Writer, 'log' | 'seen'>,
  { cacheBytes = 64 * 2 ** 20, waitingMost = 100, waitingMs = 15_000 }: Bounds = {},
): Writer => {
  const makeCache = (): Cache =>
    new LRUCache({
      maxSize: cacheBytes,
      sizeCalculation: ({ size }) => size.measured + size.added,
    })
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
    inTurn: turns(waitingMost, waitingMs),
    approval: undefined,
    isErased: undefined,
  }
}

type Turn = { readonly begin: () => void; readonly refuse: (error: unknown) => void }

/**
 * Lets work on the same stream wait for each other, so that the writers of one process do not make each other try again.
 * Work that finds too many others waiting is refused, and so is work whose turn does not come in time. When the log is
 * away, all that wait for a stream are refused together: one after the other, each would wait until its own deadline.
 */
const turns = (waitingMost: number, waitingMs: number) => {
  const queues = new Map<string, Set<Turn>>()

  const turnIn = (waiting: Set<Turn>) =>
    new Promise<void>((resolve, reject) => {
      const end = (settle: () => void) => {
        clearTimeout(deadline)
        waiting.delete(turn)
        settle()
      }
      const turn: Turn = { begin: () => end(resolve), refuse: (error) => end(() => reject(error)) }
      const deadline = setTimeout(() => turn.refuse(tooManyAtOnce()), waitingMs)
      waiting.add(turn)
    })

  return async <Result>(stream: string, work: () => Promise<Result>): Promise<Result> => {
    const others = queues.get(stream)
    if (others && others.size >= waitingMost) throw tooManyAtOnce()
    const waiting = others ?? new Set<Turn>()
    if (others) await turnIn(others)
    else queues.set(stream, waiting)
    try {
      return await work()
    } catch (error) {
      if (error instanceof LogUnavailable) for (const turn of waiting) turn.refuse(error)
      throw error
    } finally {
      const [next] = waiting
      if (next) next.begin()
      else queues.delete(stream)
    }
  }
}

export const tooManyAtOnce = () =>
  new Problem('unavailable', 'Too many requests change this at the same time. Send the request again.', {
    headers: { 'Retry-After': '1' },
  })
