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

const rowsAtOnce = 500
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
      while (!during.aborted) {
        const sent = await sendSome(parts, url)
        wentWell()
        if (sent < rowsAtOnce) await pause(pollMs, undefined, { signal: during }).catch(() => undefined)
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

/** Says how many were sent. */
const sendSome = async ({ config, pool, http }: Parts, url: string): Promise<number> => {
  if (!(await untilWritten(pool))) return 0
  const rows = await findUnsent(pool)
  const last = rows.at(-1)
  if (!last) return 0
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
  if (exchange.status < 200 || exchange.status > 299) throw new NotTaken(`The collector answers ${exchange.status}.`)
  await transaction(pool, async (db) => {
    await db.query('delete from access_sent_on')
    await db.query(sql`insert into access_sent_on (at, id) values (${last.at}, ${last.id})`)
  })
  return rows.length
}

const findUnsent = async (pool: Pool): Promise<readonly Row[]> => {
  const { rows } = await pool.query<Row>(sql`
    with sent as (
      select coalesce(max(at), '-infinity') as at from access_sent_on
    )
    select access.id, access.at, organisation_id, actor_type, actor_id, method, route, record_type, record_ids, rows_shown, personal,
      filters, request_id
    from access_record as access, sent
    where access.at >= sent.at and access.at < now() - make_interval(secs => ${writtenAfterSeconds})
      and not exists (select from access_sent_on as last where (access.at, access.id) <= (last.at, last.id))
    order by access.at, access.id limit ${rowsAtOnce}`)
  return rows
}
