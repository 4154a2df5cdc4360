import { randomBytes, randomUUID } from 'node:crypto'
import type { ClientBase } from 'pg'
import type { RecordedEvent } from '#domain/event.ts'
import { edgeTiles, hashBytes, tileWidth } from '#infra/audit-tree/tiles.ts'
import { sql, type Query } from '#infra/postgres/postgres.ts'
import type { Random } from '../journeys/random.ts'

/** A leaf that a test knows: its tree, its place and its event. */
export type KnownLeaf = { readonly tree: number; readonly index: number; readonly event: RecordedEvent }

export type Known = {
  readonly leaves: readonly KnownLeaf[]
  /** The sizes of the checkpoints of each tree, the smallest first. */
  readonly checkpoints: readonly { readonly tree: number; readonly size: number }[]
  readonly tiles: readonly {
    readonly tree: number
    readonly level: number
    readonly index: number
    readonly bytes: number
  }[]
}

/** Something that somebody does to the database, and what an audit must say of it. */
export type Tampering = {
  readonly name: string
  readonly statements: readonly Query[]
  /** The first bad position. */
  readonly found: RegExp
}

type Choice = {
  readonly any: <Item>(items: readonly Item[]) => Item
  /** A number from the first on, and below the second. */
  readonly number: (from: number, below: number) => number
}

type Make = (known: Known, choice: Choice) => Tampering

const choiceOf = (random: Random): Choice => {
  const number = (from: number, below: number) => from + Math.floor(random() * (below - from))
  const any = <Item>(items: readonly Item[]): Item => {
    const item = items[number(0, items.length)]
    if (item === undefined) throw new Error('There is none to choose from.')
    return item
  }
  return { any, number }
}

const atLeaf = (index: number): RegExp => new RegExp(`^leaf ${index}:`)

/** Changes one column of an event. */
const changedEvent =
  (column: string, change: (event: RecordedEvent, choice: Choice) => unknown): Make =>
  ({ leaves }, choice) => {
    const { event, index } = choice.any(leaves)
    const text = `update event_log.event set ${column} where id = $2`
    const values = [change(event, choice), event.id]
    return { name: `event ${column}`, statements: [{ text, values }], found: atLeaf(index) }
  }

const changedEvents: readonly Make[] = [
  changedEvent('data = $1', ({ data }) => ({ ...data, premium_pence: 30_000 })),
  changedEvent('data = $1', ({ data }) => ({ ...data, more: null })),
  changedEvent('metadata = $1', ({ metadata }) => ({ ...metadata, actor: { type: 'operator', id: 'The Queen' } })),
  changedEvent('metadata = $1', ({ metadata }) => ({ ...metadata, occurred_at: '2020-01-01T00:00:00.000Z' })),
  changedEvent('type = $1', () => 'SomethingElseHappened'),
  changedEvent('schema_version = $1', () => 2),
  changedEvent(
    'recorded_at = $1',
    ({ recorded_at }, { number }) => new Date(recorded_at.getTime() - number(1, 1_000_000)),
  ),
  changedEvent('id = $1', () => randomUUID()),
  changedEvent('stream = $1', ({ stream }) => `${stream}1`),
  changedEvent('revision = $1', (_, { number }) => number(1_000, 2_000)),
  ({ leaves }, { any }) => {
    const { event } = any(leaves)
    const statement = sql`update event_log.event set category = 'elsewhere' where id = ${event.id}`
    return { name: 'event category', statements: [statement], found: /stands in the category elsewhere/ }
  },
]

// The order of the log is by an identity column, which nobody may set but by taking that from it.
const freeOrder: Query = { text: 'alter table event_log.event alter column position drop identity', values: [] }

const otherEvents: readonly Make[] = [
  ({ leaves }, { any }) => {
    const { event, index } = any(leaves)
    const statement = sql`delete from event_log.event where id = ${event.id}`
    return { name: 'event removed', statements: [statement], found: atLeaf(index) }
  },
  ({ leaves }, { any, number }) => {
    const { event, tree, index } = any(leaves)
    const before = leaves.find((leaf) => leaf.tree === tree && isOfTransaction(leaf.event, event))?.index ?? index
    const statement = sql`
      insert into event_log.event (transaction_id, position, revision, id, schema_version, stream, category, type, data, metadata)
      overriding system value
      select transaction_id, -${number(1, 1_000)}::bigint, 0, ${randomUUID()}, 1, category || '-' || ${randomUUID()}::text,
        category, type, data, metadata
      from event_log.event where id = ${event.id}`
    return { name: 'event added', statements: [statement], found: atLeaf(before) }
  },
  ({ leaves }, { any }) => {
    const first = any(leaves.filter(({ tree }) => leaves.filter((leaf) => leaf.tree === tree).length > 1))
    const others = leaves.filter(({ tree, index }) => tree === first.tree && index !== first.index)
    const second = any(others)
    const statement = sql`
      update event_log.event as event set transaction_id = other.transaction_id, position = other.position
      from event_log.event as other
      where (event.id, other.id) in ((${first.event.id}, ${second.event.id}), (${second.event.id}, ${first.event.id}))`
    const index = Math.min(first.index, second.index)
    return { name: 'events in another order', statements: [freeOrder, statement], found: atLeaf(index) }
  },
]

/** Positions begin with the transaction. */
const isOfTransaction = (one: RecordedEvent, other: RecordedEvent): boolean =>
  one.position.split('-')[0] === other.position.split('-')[0]

const leafIndex: readonly Make[] = [
  ...[
    'event_id = gen_random_uuid()',
    `stream = stream || '1'`,
    'revision = revision + 1',
    `event_id = null, stream = null, revision = null, record = '{}'`,
  ].map((change): Make => ({ leaves }, { any }) => {
    const { tree, index } = any(leaves)
    const text = `update audit_leaf set ${change} where tree_id = $1 and index = $2`
    return { name: `leaf index ${change}`, statements: [{ text, values: [tree, index] }], found: atLeaf(index) }
  }),
  ({ leaves }, { any }) => {
    const { tree, index } = any(leaves)
    const statement = sql`delete from audit_leaf where tree_id = ${tree} and index = ${index}`
    return { name: 'leaf removed', statements: [statement], found: atLeaf(index) }
  },
  ({ leaves }, { any }) => {
    const { tree } = any(leaves)
    const { length } = leaves.filter((leaf) => leaf.tree === tree)
    const statement = sql`
      insert into audit_leaf (tree_id, index, event_id, stream, revision)
      values (${tree}, ${length}, ${randomUUID()}, 'test-1', 0)`
    return { name: 'leaf added', statements: [statement], found: atLeaf(length) }
  },
  ({ leaves }, { any }) => {
    const first = any(
      leaves.filter(({ tree, index }) => leaves.some((leaf) => leaf.tree === tree && leaf.index > index)),
    )
    const second = any(leaves.filter(({ tree, index }) => tree === first.tree && index > first.index))
    const statement = sql`
      update audit_leaf as leaf set event_id = other.event_id, stream = other.stream, revision = other.revision
      from audit_leaf as other
      where leaf.tree_id = ${first.tree} and other.tree_id = ${first.tree}
        and (leaf.index, other.index) in ((${first.index}::bigint, ${second.index}::bigint), (${second.index}::bigint, ${first.index}::bigint))`
    return { name: 'leaves in another order', statements: [statement], found: atLeaf(first.index) }
  },
]

const tiles: readonly Make[] = [
  ({ tiles: known }, { any, number }) => {
    const { tree, level, index, bytes } = any(known)
    const place = number(0, bytes)
    const statement = sql`
      update audit_tile set hashes = set_byte(hashes, ${place}, get_byte(hashes, ${place}) # ${number(1, 256)})
      where tree_id = ${tree} and level = ${level} and index = ${index}`
    const found =
      level === 0 ? atLeaf(index * tileWidth + Math.floor(place / hashBytes)) : new RegExp(`^tile ${level}/${index}:`)
    return { name: 'tile changed', statements: [statement], found }
  },
  ({ tiles: known }, { any }) => {
    const { tree, level, index } = any(known)
    const statement = sql`delete from audit_tile where tree_id = ${tree} and level = ${level} and index = ${index}`
    return { name: 'tile removed', statements: [statement], found: new RegExp(`^tile ${level}/${index}:`) }
  },
  ({ tiles: known }, { any }) => {
    const { tree, level, index, bytes } = any(known)
    const statement = sql`
      update audit_tile set hashes = substr(hashes, 1, ${bytes - hashBytes})
      where tree_id = ${tree} and level = ${level} and index = ${index}`
    const found =
      level === 0 ? atLeaf(index * tileWidth + bytes / hashBytes - 1) : new RegExp(`^tile ${level}/${index}:`)
    return { name: 'tile cut', statements: [statement], found }
  },
  ({ tiles: known }, { any }) => {
    const { tree, level, index } = any(known)
    const statement = sql`
      update audit_tile set hashes = hashes || ${randomBytes(hashBytes)}
      where tree_id = ${tree} and level = ${level} and index = ${index}`
    return { name: 'tile longer', statements: [statement], found: /tile/ }
  },
  ({ tiles: known }, { any, number }) => {
    const { tree } = any(known)
    const statement = sql`
      insert into audit_tile (tree_id, level, index, hashes)
      values (${tree}, ${number(3, 60)}, 0, ${randomBytes(hashBytes)})`
    return { name: 'tile added', statements: [statement], found: /tiles/ }
  },
]

const changedCheckpoint =
  (change: (choice: Choice) => string): Make =>
  ({ checkpoints }, choice) => {
    const { tree, size } = choice.any(checkpoints)
    const text = `update audit_checkpoint set ${change(choice)} where tree_id = $1 and size = $2`
    return { name: `checkpoint ${text}`, statements: [{ text, values: [tree, size] }], found: /^checkpoint \d+:/ }
  }

const checkpoints: readonly Make[] = [
  changedCheckpoint(() => `root = sha256(root)`),
  changedCheckpoint(() => `size = size + 100000`),
  changedCheckpoint(() => `former_size = former_size + 1`),
  changedCheckpoint(({ number }) => `signed_at = signed_at + interval '${number(1, 100_000)} milliseconds'`),
  changedCheckpoint(({ number }) => {
    const place = number(1, 100)
    return `note = overlay(note placing (case substr(note, ${place}, 1) when 'x' then 'y' else 'x' end) from ${place} for 1)`
  }),
  changedCheckpoint(() => `note = replace(note, '— ', '– ')`),
  ({ checkpoints: known }, { any }) => {
    const { tree, size } = any(known)
    const statement = sql`delete from audit_checkpoint where tree_id = ${tree} and size = ${size}`
    return { name: 'checkpoint removed', statements: [statement], found: /^checkpoint \d+:/ }
  },
  ({ checkpoints: known }, { any }) => {
    const { tree, size } = any(known)
    const statement = sql`
      insert into audit_checkpoint select tree_id, size + 10000, size, root, note, signed_at from audit_checkpoint
      where tree_id = ${tree} and size = ${size}`
    return { name: 'checkpoint added', statements: [statement], found: /^checkpoint \d+:/ }
  },
]

const changedTree =
  (name: string, change: string, found: RegExp): Make =>
  ({ leaves }, { any }) => {
    const text = `update audit_tree set ${change} where id = $1`
    return { name, statements: [{ text, values: [any(leaves).tree] }], found }
  }

const trees: readonly Make[] = [
  changedTree('tree larger', 'size = size + 1', /^leaf \d+:/),
  changedTree('tree smaller', 'size = size - 1', /^leaf \d+:/),
  changedTree('log renamed', `origin = origin || '1'`, /^checkpoint \d+:/),
]

const kinds = [changedEvents, otherEvents, leafIndex, tiles, checkpoints, trees]

/** Some tampering, at some place. */
export const someTampering = (known: Known, random: Random): Tampering => {
  const choice = choiceOf(random)
  return choice.any(choice.any(kinds))(known, choice)
}

/**
 * Takes the last events of some log out, with all that the audit log holds of them: what is left is what was there when an earlier
 * checkpoint was signed.
 */
export const cutTail = ({ leaves, checkpoints: known, tiles: stored }: Known, random: Random): Tampering => {
  const { any } = choiceOf(random)
  const { tree, size } = any(
    known.filter((one) => known.some((other) => other.tree === one.tree && other.size > one.size)),
  )
  const gone = leaves.filter((leaf) => leaf.tree === tree && leaf.index >= size).map(({ event }) => event.id)
  const left = leaves.filter(({ event }) => !gone.includes(event.id)).map(({ event }) => event.position)
  const widths = new Map(edgeTiles(size).map(({ level, index, width }) => [`${level}/${index}`, width]))
  return {
    name: `tail cut to ${size}`,
    statements: [
      sql`delete from event_log.event where id = any (${gone}::uuid[])`,
      sql`delete from audit_leaf where tree_id = ${tree} and index >= ${size}`,
      sql`delete from audit_checkpoint where tree_id = ${tree} and size > ${size}`,
      sql`update audit_tree set size = ${size}, signed_size = ${size} where id = ${tree}`,
      sql`update consumer_checkpoint set position = ${left.toSorted().at(-1)} where name = 'audit'`,
      ...stored
        .filter((tile) => tile.tree === tree)
        .map(({ level, index }) => {
          const isFull = (index + 1) * tileWidth ** (level + 1) <= size
          const width = widths.get(`${level}/${index}`) ?? (isFull ? tileWidth : 0)
          return width === 0
            ? sql`delete from audit_tile where tree_id = ${tree} and level = ${level} and index = ${index}`
            : sql`
              update audit_tile set hashes = substr(hashes, 1, ${width * hashBytes})
              where tree_id = ${tree} and level = ${level} and index = ${index}`
        }),
    ],
    found: atLeaf(size),
  }
}

/** Does it within the transaction of a connection. */
export const tamper = async (db: ClientBase, { statements }: Tampering): Promise<void> => {
  for (const statement of statements) await db.query(statement)
}
