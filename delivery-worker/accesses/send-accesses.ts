import { setTimeout as pause } from 'node:timers/promises'
import type { Pool } from 'pg'
import { OwnError } from '#domain/own-error.ts'
import type { Access } from '#infra/access-records/access.ts'
import { untilWritten, writtenAfterSeconds } from '#infra/access-records/until-written.ts'
import type { Config } from '#infra/config.ts'
import type { Leases } from '#infra/consumers/lease.ts'
import { workWhileLeased } from '#infra/consumers/leased-work.ts'
import type { GuardedHttp } from '#infra/guarded-http.ts'
import type { Check } from '#infra/http/health.ts'
import type { Log } from '#infra/log.ts'
import { sql, transaction } from '#infra/postgres/postgres.ts'

type Parts = {
  readonly config: Pick<Config, 'ACCESS_COLLECTOR_URL' | 'ACCESS_COLLECTOR_TOKEN'>
  readonly pool: Pool
  readonly leases: Leases
  readonly http: Pick<GuardedHttp, 'request'>
  readonly log: Log
  readonly signal: AbortSignal
  readonly pollMs?: number
}

/** The collector has not taken what was sent to it. */
class NotTaken extends OwnError {
  override readonly name = 'NotTaken'
}

type Row = Access & { readonly at: Date }

const mostAtOnce = 500
const usuallyEveryMs = 5_000
const name = 'accesses sent on'

/**
 * Sends every access on to the collector of the operator, each at least once and in the order of their time. It begins with the oldest
 * that is kept.
 */
export const startSendingAccesses = (
  parts: Parts,
): { readonly check?: () => Check; readonly finished: Promise<void> } => {
  const { config, leases, log, signal, pollMs = usuallyEveryMs } = parts
  const url = config.ACCESS_COLLECTOR_URL
  if (url === undefined) return { finished: Promise.resolve() }

  const { outage, finished } = workWhileLeased({
    name,
    leases,
    log,
    signal,
    work: async (during, wentWell) => {
      let atOnce = mostAtOnce
      while (!during.aborted) {
        const { sent, isTooLarge } = await sendSome(parts, url, atOnce)
        wentWell()
        atOnce = isTooLarge ? Math.ceil(atOnce / 2) : Math.min(mostAtOnce, atOnce * 2)
        if (sent === 0 && !isTooLarge) await pause(pollMs, undefined, { signal: during }).catch(() => undefined)
      }
    },
  })
  return {
    check: () => {
      const detail = outage()
      return { name, ok: detail === undefined, ...(detail !== undefined && { detail }) }
    },
    finished,
  }
}

type Sent = {
  /** So many were sent. */
  readonly sent: number
  /** The collector takes fewer at a time. */
  readonly isTooLarge: boolean
}

const sendSome = async ({ config, pool, http }: Parts, url: string, atOnce: number): Promise<Sent> => {
  if (!(await untilWritten(pool))) return { sent: 0, isTooLarge: false }
  const before = await findLast(pool)
  const rows = await findUnsent(pool, before, atOnce)
  const last = rows.at(-1)
  if (!last) return { sent: 0, isTooLarge: false }
  const token = config.ACCESS_COLLECTOR_TOKEN
  const exchange = await http.request({
    method: 'POST',
    url,
    headers: {
      'content-type': 'application/x-ndjson',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
  })
  if (exchange.outcome !== 'answered') throw new NotTaken(`The collector could not be reached: ${exchange.reason}.`)
  if (exchange.status === 413 && rows.length > 1) return { sent: 0, isTooLarge: true }
  if (exchange.status < 200 || exchange.status > 299) throw new NotTaken(`The collector answers ${exchange.status}.`)
  await moveOn(pool, before, last)
  return { sent: rows.length, isTooLarge: false }
}

type Last = { readonly at: Date; readonly id: string }

const findLast = async (db: Pick<Pool, 'query'>): Promise<Last | undefined> => {
  const { rows } = await db.query<Last>('select at, id from access_sent_on')
  return rows[0]
}

/** Refused where another process, which has taken over meanwhile, has moved it. */
const moveOn = async (pool: Pool, before: Last | undefined, last: Last): Promise<void> =>
  transaction(pool, async (db) => {
    await db.query('lock table access_sent_on in share row exclusive mode')
    const now = await findLast(db)
    if (now?.id !== before?.id) throw new NotTaken('Another process has sent accesses on meanwhile.')
    await db.query('delete from access_sent_on')
    await db.query(sql`insert into access_sent_on (at, id) values (${last.at}, ${last.id})`)
  })

/** From each organisation as many, by its index: of all of them together, however many wait, no more are sorted. */
const findUnsent = async (pool: Pool, last: Last | undefined, atOnce: number): Promise<readonly Row[]> => {
  const { rows } = await pool.query<Row>(sql`
    with recursive organisations as (
      (select organisation_id as id from access_record order by 1 limit 1)
      union all
      select (select organisation_id from access_record where organisation_id > organisations.id order by 1 limit 1)
      from organisations where id is not null
    )
    select unsent.* from organisations cross join lateral (
      select access.id, at, organisation_id, actor_type, actor_id, method, route, record_type, record_ids, rows_shown, personal,
        filters, request_id
      from access_record as access
      where organisation_id = organisations.id and at >= ${last?.at ?? '-infinity'}
        and (at, access.id) > (${last?.at ?? '-infinity'}::timestamptz, ${last?.id ?? leastId}::uuid)
        and at < now() - make_interval(secs => ${writtenAfterSeconds})
      order by at, access.id limit ${atOnce}) as unsent
    order by at, id limit ${atOnce}`)
  return rows
}

const leastId = '00000000-0000-0000-0000-000000000000'
