import { Worker } from 'node:worker_threads'
import { LRUCache } from 'lru-cache'
import { OwnError } from '#domain/own-error.ts'
import { fillEndpoint, hasTemplates, type Filled } from './fill.ts'
import type { FillingResult, FillingTask } from './filling-thread.ts'

/** Fills the templates of an endpoint, for a delivery of this organisation. Throws when they cannot be used. */
export type Fill = (organisation_id: string, task: FillingTask) => Promise<Filled>

type Waiting = FillingTask & {
  readonly organisation_id: string
  readonly resolve: (filled: Filled) => void
  readonly reject: (error: Error) => void
}

type Options = {
  /** A task that takes longer ends with its thread. Templates keep to a small part of it unless they were made not to. */
  readonly mostMs?: number
  /** The time for which nothing is filled in then for the organisation. */
  readonly restMs?: number
  /** A clock that never goes back. */
  readonly monotonicMs?: () => number
}

const tooLong = 'The templates of the endpoint take too long, or too much memory.'
const stops = 'The worker stops.'
const startsWithinMs = 30_000
const organisationsKnown = 10_000

/**
 * Fills templates in a thread of its own, since organisations write them: whatever they do, no delivery of others waits for it
 * but the one task that is being done. The organisation that has used the thread least comes next. What waits is bounded by
 * the slots of the sender.
 */
export const makeFilling = (options: Options = {}) => {
  const { mostMs = 3_000, restMs = 60_000, monotonicMs = () => performance.now() } = options
  const queues = new Map<string, Waiting[]>()
  /** A newcomer begins where the last one began, not at nothing. */
  const used = new LRUCache<string, number>({ max: organisationsKnown })
  const restsUntil = new LRUCache<string, number>({ max: organisationsKnown })
  let reached = 0
  let running: { readonly thread: Worker; isReady: boolean } | undefined
  let current: { readonly end: (result: FillingResult, isFatal?: boolean) => void } | undefined
  let isClosed = false

  const giveUp = (fault: string): void => {
    const left = [...queues.values()].flat()
    queues.clear()
    for (const { reject } of left) reject(new OwnError(fault))
  }

  const startThread = () => {
    const thread = new Worker(new URL('./filling-thread.ts', import.meta.url), {
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 128 },
    })
    thread.unref()
    const started = { thread, isReady: false }
    const isOver = () => running !== started
    const fail = (fault: string) => {
      if (isOver()) return
      running = undefined
      void thread.terminate()
      if (current) current.end({ fault }, true)
      else giveUp(fault)
    }
    const starting = setTimeout(() => fail('The thread for templates did not start.'), startsWithinMs)
    thread.on('message', (message: 'ready' | FillingResult) => {
      if (isOver()) return
      if (message !== 'ready') return current?.end(message)
      clearTimeout(starting)
      started.isReady = true
      next()
    })
    thread.on('error', () => fail(tooLong))
    thread.on('exit', () => {
      clearTimeout(starting)
      fail(tooLong)
    })
    return started
  }

  const take = (): Waiting | undefined => {
    let least: string | undefined
    for (const organisation of queues.keys())
      if (least === undefined || (used.get(organisation) ?? 0) < (used.get(least) ?? 0)) least = organisation
    const queue = least === undefined ? undefined : queues.get(least)
    const task = queue?.shift()
    if (least !== undefined && queue?.length === 0) queues.delete(least)
    return task
  }

  const next = (): void => {
    if (current || isClosed || queues.size === 0) return
    running ??= startThread()
    if (!running.isReady) return
    const task = take()
    if (!task) return
    const { organisation_id, endpoint, envelope, resolve, reject } = task
    const begunAt = monotonicMs()
    reached = used.get(organisation_id) ?? reached
    const { thread } = running
    const timer = setTimeout(() => {
      running = undefined
      void thread.terminate()
      current?.end({ fault: tooLong }, true)
    }, mostMs)
    timer.unref()
    const end = (result: FillingResult, isFatal = false): void => {
      clearTimeout(timer)
      current = undefined
      const now = monotonicMs()
      used.set(organisation_id, reached + Math.max(0, now - begunAt))
      if (isFatal) restsUntil.set(organisation_id, now + restMs)
      if ('filled' in result) resolve(result.filled)
      else reject(new OwnError(result.fault))
      next()
    }
    current = { end }
    thread.postMessage({ endpoint, envelope } satisfies FillingTask)
  }

  const fill: Fill = async (organisation_id, { endpoint, envelope }) => {
    if (!hasTemplates(endpoint)) return fillEndpoint(endpoint, envelope)
    if (isClosed) throw new OwnError(stops)
    if ((restsUntil.get(organisation_id) ?? 0) > monotonicMs())
      throw new OwnError(`${tooLong} None of the organisation is used for a minute.`)
    return new Promise<Filled>((resolve, reject) => {
      const queue = queues.get(organisation_id) ?? []
      if (queue.length === 0) used.set(organisation_id, Math.max(used.get(organisation_id) ?? 0, reached))
      queue.push({ organisation_id, endpoint, envelope, resolve, reject })
      queues.set(organisation_id, queue)
      next()
    })
  }

  return {
    fill,
    /** Gives up what still waits. */
    close: async (): Promise<void> => {
      isClosed = true
      const thread = running?.thread
      running = undefined
      giveUp(stops)
      current?.end({ fault: stops })
      await thread?.terminate()
    },
  }
}
