import { createHash } from 'node:crypto'
import type { ClientBase, QueryConfig } from 'pg'
import { OwnError } from '#domain/own-error.ts'
import type { Sender } from '#infra/consumers/consumer-type.ts'
import { texts } from '#infra/postgres/arrays.ts'
import { rowTypes } from '#infra/postgres/row-types.ts'
import { keyPart, written } from './column.ts'
import type { ColumnType, Row, SomeProjection } from './projection.ts'

/** The table of a projection, or one next to it that is being built. Every statement is one round trip for many rows. */
export type Table = {
  /** As written in statements. */
  readonly name: string
  readonly create: string
  readonly createIndexes: string
  /** Equal for two keys exactly if they are one key to the database. */
  readonly identityOf: (key: Row) => string
  /** The rows of these keys, as far as they exist. */
  readonly load: (db: ClientBase, keys: readonly Row[]) => Promise<readonly Row[]>
  /** Writes rows, whether they exist or not; of each key at most one. */
  readonly save: (db: Sender, rows: readonly Row[]) => Promise<void>
  readonly remove: (db: Sender, keys: readonly Row[]) => Promise<void>
}

// Of the 63 characters that PostgreSQL keeps of a name, some are left for the suffix of a table that is being built.
const usableName = /^[a-z][a-z0-9_]{0,49}$/

export const tableOf = (projection: SomeProjection, suffix = ''): Table => {
  const { columns, key, indexes = [] } = projection.table
  const all = Object.keys(columns)
  const others = all.filter((column) => !key.includes(column))
  for (const name of [projection.name, ...all])
    if (!usableName.test(name)) throw new OwnError(`${JSON.stringify(name)} cannot be the name of a table or column.`)

  const name = `"${projection.name}${suffix}"`
  const typeOf = (column: string): ColumnType => {
    const type = columns[column]
    if (!type) throw new OwnError(`The table ${name} has no column ${column}.`)
    return type
  }
  const types = Object.fromEntries(all.map((column) => [column, typeOf(column)]))
  const sent = (names: readonly string[], rows: readonly Row[]) =>
    names.map((column) => texts(rows.map((row) => written(typeOf(column), row[column]))))
  const received = (names: readonly string[]) =>
    `unnest(${names.map((_, index) => `$${index + 1}::text[]`).join(', ')}) as sent (${list(names)})`

  // One key after the other through the index, whichever size the planner assumes for a table that is being filled.
  const found = (what: string) => `
    ${received(key)} cross join lateral (
      select ${what} from ${name} as present
      where ${key.map((column) => `present."${column}" = sent."${column}"::${typeOf(column)}`).join(' and ')}
      limit 1) as found`

  /** What a connection prepares once. Another version of the table has other statements. */
  const prepared = (text: string): ((values: readonly Buffer[]) => QueryConfig) => {
    const digest = createHash('sha256')
      .update(JSON.stringify([projection.version, types, text]))
      .digest('hex')
    return (values) => ({ name: digest.slice(0, 40), text, values: [...values], types: rowTypes })
  }
  const loading = prepared(`select ${list(all, 'found.')} from ${found(list(all))}`)
  const removing = prepared(`delete from ${name} where ctid = any (array(select found.ctid from ${found('ctid')}))`)
  const saving = prepared(`
    insert into ${name} (${list(all)})
    select ${all.map((column) => `"${column}"::${typeOf(column)}`).join(', ')} from ${received(all)}
    on conflict (${list(key)}) do ${
      others.length > 0 ? `update set (${list(others)}) = row(${list(others, 'excluded.')})` : 'nothing'
    }`)

  return {
    name,
    create: `
      create table ${name} (
        ${all.map((column) => `"${column}" ${typeOf(column)}`).join(', ')},
        primary key (${list(key)}))`,
    createIndexes: indexes.map((columnList) => `create index on ${name} (${columnList})`).join('; '),
    identityOf: (row) => key.map((column) => keyPart(typeOf(column), row[column])).join('\0'),
    load: async (db, keys) => {
      if (keys.length === 0) return []
      const { rows } = await db.query<Row>(loading(sent(key, keys)))
      return rows
    },
    save: async (db, rows) => {
      if (rows.length > 0) await db.query(saving(sent(all, rows)))
    },
    remove: async (db, keys) => {
      if (keys.length > 0) await db.query(removing(sent(key, keys)))
    },
  }
}

const list = (names: readonly string[], prefix = '') => names.map((column) => `${prefix}"${column}"`).join(', ')
