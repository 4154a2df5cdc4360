import { Client, type Pool, type QueryConfig, type QueryResult, type QueryResultRow } from 'pg'
import { isConnectionLoss } from './postgres.ts'

/** Whatever answers a statement: a pool, a connection, or lookups. */
export type Database = {
  readonly query: <Row extends QueryResultRow>(statement: QueryConfig) => Promise<QueryResult<Row>>
}

export type Lookups = Database & { readonly close: () => Promise<void> }

type Line = { readonly client: Promise<Client>; waiting: number; isLost: boolean }

/**
 * Statements that find a few rows by their keys, sent one right behind the other over few connections: a server that has
 * the next one waiting need not be changes for it, nor we for every answer. A GET of an application was answered half as
 * fast again. What takes long does not belong here, since all that comes after it waits.
 */
export const openLookups = (pool: Pool, connections = 2): Lookups => {
  const lines = new Map<number, Line>()

  const open = (place: number): Line => {
    const line: Line = { client: connect(), waiting: 0, isLost: false }
    const lose = () => {
      line.isLost = true
    }
    line.client.then((client) => client.once('end', lose), lose)
    lines.set(place, line)
    return line
  }

  const connect = async (): Promise<Client> => {
    const client = new Client(pool.options)
    // Whoever waits for an answer is told, and nobody else need be.
    client.on('error', () => undefined)
    await client.connect()
    return client
  }

  /** The first line where nobody waits, or else the one where the fewest do. */
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
      return await (await line.client).query<Row>(statement)
    } catch (error) {
      if (!isConnectionLoss(error)) throw error
      line.isLost = true
      // A connection may have been lost while nobody used it.
      if (isAgain) throw error
      return await ask<Row>(statement, true)
    } finally {
      line.waiting--
    }
  }

  return {
    query: ask,
    close: async () => {
      const clients = [...lines.values()].map(async ({ client }) => (await client).end())
      await Promise.allSettled(clients)
    },
  }
}
