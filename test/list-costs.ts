import type { Pool, QueryConfig } from 'pg'
import type { CheckedRequest, Route } from '#infra/http/route.ts'
import { planOf } from '../bench/plan-of.ts'

type Asked = {
  readonly path?: object
  readonly query: object
  readonly caller?: object
  /** Those that are too long to be read from end to end. */
  readonly tables: RegExp
}

/** What a GET asks of the database, with the most rows that any step of it handled, and the tables read from end to end. */
export const costsOf = async (
  pool: Pool,
  routesWith: (db: Pick<Pool, 'query'>) => readonly Route[],
  address: string,
  { path, query, caller, tables }: Asked,
) => {
  const plans: (readonly string[])[] = []
  const explaining = {
    query: async (statement: QueryConfig) => {
      plans.push(await planOf(pool, statement))
      return pool.query(statement)
    },
  } as Pick<Pool, 'query'>
  const found = routesWith(explaining).find(({ spec }) => spec.address === address)
  if (!found) throw new Error(`There is no ${address}.`)
  const request = { path, query: { limit: 50, ...query }, caller }
  const { body } = await found.handle(request as unknown as CheckedRequest)

  const lines = plans.flat()
  return {
    shown: (body as { data: readonly unknown[] }).data.length,
    rows: Math.max(...lines.map(rowsOf)),
    /** Of tables and indexes, to find what is shown. */
    pages: Math.max(...(plans[0] ?? []).map(pagesOf)),
    scans: lines.filter((line) => tables.test(/Seq Scan on (\S+)/.exec(line)?.[1] ?? '')),
  }
}

/** The pages of tables and indexes that a step looked at, with those below it. */
const pagesOf = (line: string): number =>
  [...line.matchAll(/shared hit=(\d+)|read=(\d+)/g)].reduce((sum, [, hit, read]) => sum + Number(hit ?? read), 0)

/** The rows that a step gave, or read and threw away. */
export const rowsOf = (line: string): number => {
  const [, given, times] = /actual .*rows=([\d.]+) loops=(\d+)/.exec(line) ?? []
  const [, removed] = /Rows Removed by (?:Filter|Join Filter|Index Recheck): (\d+)/.exec(line) ?? []
  return Math.max(Number(given ?? 0) * Number(times ?? 0), Number(removed ?? 0))
}
