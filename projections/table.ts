import { createHash } from 'node:crypto'
import type { ClientBase, Pool, QueryConfig } from 'pg'
import { OwnError } from '#domain/own-error.ts'
import { moving, type Move } from '#infra/consumers/checkpoint.ts'
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
  readonly load: (db: Pool | ClientBase, keys: readonly Row[]) => Promise<readonly Row[]>
  /** Writes rows, whether they exist or not; of each key at most one. */
  readonly save: (db: Sender, rows: readonly Row[]) => Promise<void>
  readonly remove: (db: Sender, keys: readonly Row[]) => Promise<void>
  /**
   * The statement that writes some rows, removes others, and moves a checkpoint: all of it, or nothing if the checkpoint
   * cannot be moved. Sent alone, it is a transaction whose commit does not wait for the disk: what a crash takes of it is
   * folded again.
   */
  readonly change: (move: Move, rows: readonly Row[], removed: readonly Row[]) => QueryConfig
}

// Of the 63 characters that PostgreSQL keeps of a name, some are left for the suffix of a table that is being built.
const usableName = /^[a-z][a-z0-9_]{0,49}$/

/** The columns of an index, and the condition under which a row is in it. */
const indexed = (index: string): string => {
  const [columnList = '', condition] = index.split(' where ')
  return `(${columnList})${condition ? ` where ${condition}` : ''}`
}

/** `schema`: `pg_temp` for one that a connection keeps for itself, or that of a replay. */
export const tableOf = (projection: SomeProjection, suffix = '', schema = 'public'): Table => {
  const { columns, key, indexes = [] } = projection.table
  const all = Object.keys(columns)
  const others = all.filter((column) => !key.includes(column))
  for (const name of [projection.name, schema, ...all])
    if (!usableName.test(name)) throw new OwnError(`${JSON.stringify(name)} cannot be the name of a table or column.`)

  // A schema that shows another version of the table to some comes before it.
  const name = `"${schema}"."${projection.name}${suffix}"`
  const typeOf = (column: string): ColumnType => {
    const type = columns[column]
    if (!type) throw new OwnError(`The table ${name} has no column ${column}.`)
    return type
  }
  const types = Object.fromEntries(all.map((column) => [column, typeOf(column)]))
  const sent = (names: readonly string[], rows: readonly Row[]) =>
    names.map((column) => texts(rows.map((row) => written(typeOf(column), row[column]))))
  const received = (names: readonly string[], first = 1) =>
    `unnest(${names.map((_, index) => `$${first + index}::text[]`).join(', ')}) as sent (${list(names)})`

  // One key after the other through the primary key: only that has this order without a sort. Asked for equal columns
  // alone, the planner takes any index that begins with some of them while it does not know how large a new table becomes,
  // and keeps to that plan: each row is then looked for among all rows of its organisation.
  const found = (what: string, first = 1) => {
    const wanted = key.map((column) => `sent."${column}"::${typeOf(column)}`)
    const present = list(key, 'present.')
    return `
    ${received(key, first)} cross join lateral (
      select ${what} from ${name} as present
      where (${present}) >= (${wanted.join(', ')}) order by ${present} limit 1) as found
    where ${key.map((column, place) => `found."${column}" = ${wanted[place]}`).join(' and ')}`
  }

  /** A statement prepared once per connection. Another version of the table has others. */
  const prepared = (text: string): ((values: readonly unknown[]) => QueryConfig) => {
    const digest = createHash('sha256')
      .update(JSON.stringify([projection.version, types, text]))
      .digest('hex')
    return (values) => ({ name: digest.slice(0, 40), text, values: [...values], types: rowTypes })
  }
  const loading = prepared(`select ${list(all, 'found.')} from ${found(list(all))}`)
  const removal = (first: number, condition = '') =>
    `delete from ${name} where ${condition} ctid = any (array(select found.ctid from ${found(`ctid, ${list(key)}`, first)}))`
  const upsert = (first: number, condition = '') => `
    insert into ${name} (${list(all)})
    select ${all.map((column) => `"${column}"::${typeOf(column)}`).join(', ')} from ${received(all, first)} ${condition}
    on conflict (${list(key)}) do ${
      others.length > 0 ? `update set (${list(others)}) = row(${list(others, 'excluded.')})` : 'nothing'
    }`
  const removing = prepared(removal(1))
  const saving = prepared(upsert(1))

  const together = (...parts: readonly string[]) =>
    prepared(`
    with moved as (${moving} returning true), ${parts.join(', ')}
    select set_config('synchronous_commit', 'off', true) from moved`)
  const ifMoved = 'exists (select from moved)'
  const behindMove = 5
  const saved = `saved as (${upsert(behindMove, `where ${ifMoved}`)})`
  const removed = (first: number) => `removed as (${removal(first, `${ifMoved} and`)})`
  const movingSaving = together(saved)
  const movingRemoving = together(removed(behindMove))
  const movingBoth = together(saved, removed(behindMove + all.length))

  return {
    name,
    create: `
      create table ${name} (
        ${all.map((column) => `"${column}" ${typeOf(column)}`).join(', ')},
        primary key (${list(key)}))`,
    createIndexes: indexes.map((each) => `create index on ${name} ${indexed(each)}`).join('; '),
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
    change: (move, rows, gone) => {
      if (gone.length === 0) return movingSaving([...move, ...sent(all, rows)])
      if (rows.length === 0) return movingRemoving([...move, ...sent(key, gone)])
      return movingBoth([...move, ...sent(all, rows), ...sent(key, gone)])
    },
  }
}

const list = (names: readonly string[], prefix = '') => names.map((column) => `${prefix}"${column}"`).join(', ')
