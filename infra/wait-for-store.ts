import { setTimeout as pause } from 'node:timers/promises'
import type { Pool } from 'pg'
import { LogUnavailable } from './event-log/event-log.ts'
import type { HealthPort } from './health-port.ts'
import type { Log } from './log.ts'
import { misconfiguration } from './postgres/misconfiguration.ts'
import { isUnavailable } from './postgres/postgres.ts'

type Store = {
  /** The variable that says where the store is. */
  readonly variable: 'DATABASE_URL' | 'EVENTSTOREDB_URL' | 'KAFKA_BROKERS'
  readonly url: string
  /** The likely store that does not listen there. */
  readonly hint?: string | undefined
  /** The setting that cannot work, when that is why it failed. */
  readonly faultOf?: (error: unknown, address: string) => Error | undefined
}

type WaitOptions = Pick<Partial<HealthPort>, 'starting'> & { readonly log: Log; readonly signal: AbortSignal }

const againMs = 500
const reportMs = 5_000

/**
 * Does what needs a store, again and again while the store is away, and says every few seconds which one it waits for.
 * Settings that cannot work end the waiting with one line.
 */
export const waitForStore = async <Result>(
  { variable, url, faultOf, hint }: Store,
  work: () => Promise<Result>,
  { log, signal, starting }: WaitOptions,
): Promise<Result> => {
  const address = addressOf(url)
  let reason = 'no answer yet'
  const report = () => log.warn({ variable, address, reason }, 'waiting for a store that is away')
  starting?.({ name: 'start', ok: false, detail: `waits for ${variable} at ${address}` })
  const reporting = setInterval(report, reportMs)
  try {
    for (let isFirst = true; ; isFirst = false)
      try {
        return await work()
      } catch (error) {
        const fault = variable === 'DATABASE_URL' ? misconfiguration(error, address) : faultOf?.(error, address)
        if (fault) throw fault
        if (!(error instanceof LogUnavailable || isUnavailable(error))) throw error
        reason = reasonOf(error)
        if (hint !== undefined && /ECONNREFUSED|ENOENT/.test(reason)) {
          reason = `${hint} (${reason})`
          starting?.({ name: 'start', ok: false, detail: `waits for ${variable} at ${address}: ${hint}` })
        }
        if (isFirst) report()
        await pause(againMs, undefined, { signal })
      }
  } finally {
    clearInterval(reporting)
  }
}

type Process = WaitOptions & { readonly pool: Pool }

/** Does what a start needs of the database, which may have gone since the process began. */
export const onceDatabaseAnswers = <Result>(
  { pool, ...options }: Process,
  work: () => Promise<Result>,
): Promise<Result> =>
  waitForStore({ variable: 'DATABASE_URL', url: pool.options.connectionString ?? '' }, work, options)

/** Hosts and ports without user, password and options, or the directory of a Unix socket. */
const addressOf = (url: string): string => (url.includes('://') ? hostsOf(url) : url.slice(url.lastIndexOf('@') + 1))

const hostsOf = (url: string): string => {
  const [, hosts = 'an unknown address', options = ''] = /^[^/]+:\/\/(?:[^/?]*@)?([^/?]*)[^?]*\??(.*)$/.exec(url) ?? []
  return new URLSearchParams(options).get('host') ?? hosts
}

const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  // An address with several IPs fails with an error for each.
  if (error instanceof AggregateError && error.message === '') return error.errors.map(reasonOf).join(', ')
  return error.cause instanceof Error ? `${error.message} ${error.cause.message}` : error.message
}
