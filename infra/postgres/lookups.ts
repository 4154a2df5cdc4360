import type { Pool, QueryConfig, QueryResult, QueryResultRow } from 'pg'
import { openConnection, type Connection } from './connection.ts'
import { isConnectionLoss } from './postgres.ts'
import { withTimeout } from '../timeout.ts'

/** Anything that runs a statement: a pool, a connection, or lookups. */
export type Database = {
  readonly query: <Row extends QueryResultRow>(statement: QueryConfig) => Promise<QueryResult<Row>>
}

export type Lookups = Database & { readonly close: () => Promise<void> }

type Line = { readonly connection: Promise<Connection>; waiting: number; isLost: boolean }

type Options = {
  readonly connections?: number
  /** Deadline of a lookup, 5 seconds by default: half of it on one connection, the rest on another. */
  readonly withinMs?: number
}

const late = () => Object.assign(new Error('The database did not answer in time.'), { code: 'ETIMEDOUT' })

/**
 * Statements that find a few rows by their keys, sent one right behind the other over few connections: the server has the
 * next one at hand when it has answered one, and so have we with the answers. A GET of an application was answered half
 * as fast again. A slow statement does not belong here, since all behind it wait.
 */
export const openLookups = (pool: Pool, { connections = 2, withinMs = 5_000 }: Options = {}): Lookups => {
  const lines = new Map<number, Line>()
  const name = pool.options.application_name ?? 'coverstream'

  const open = (place: number): Line => {
    const connection = openConnection(pool, { name, statementMs: withinMs / 2, connectMs: withinMs / 2 })
    const line: Line = { connection, waiting: 0, isLost: false }
    const lose = () => {
      line.isLost = true
    }
    connection.then(({ ended }) => ended.addEventListener('abort', lose), lose)
    lines.set(place, line)
    return line
  }

  /** The first line where no statement waits, or else the one where the fewest do. */
  const shortest = (): Line => {
    let found: Line | undefined
    for (let place = 0; place < connections; place++) {
      const known = lines.get(place)
      const line = !known || known.isLost ? open(place) : known
      if (line.waiting === 0) return line
      if (!found || line.waiting < found.waiting) found = line
    }
    if (!found) throw new Error('Lookups need a connection.')
    return found
  }

  const ask = async <Row extends QueryResultRow>(
    statement: QueryConfig,
    isAgain = false,
  ): Promise<QueryResult<Row>> => {
    const line = shortest()
    line.waiting++
    try {
      const { client } = await line.connection
      return await client.query<Row>(statement)
    } catch (error) {
      if (!isConnectionLoss(error)) throw error
      line.isLost = true
      // A connection may have been lost while nothing was sent over it.
      if (isAgain) throw error
      return await ask<Row>(statement, true)
    } finally {
      line.waiting--
    }
  }

  return {
    query: (statement) => withTimeout(ask(statement), withinMs, late),
    close: async () => {
      await Promise.allSettled([...lines.values()].map(async ({ connection }) => (await connection).close()))
    },
  }
}
