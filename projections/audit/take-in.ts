import type { ClientBase, Pool } from 'pg'
import { canonicalJson } from '#domain/canonical-json.ts'
import type { RecordedEvent } from '#domain/event.ts'
import { leafRecord } from '#infra/audit-tree/leaf-record.ts'
import { leafHash } from '#infra/audit-tree/merkle.ts'
import { appended, edgeOf, edgeTiles, TileMissing, type Edge, type Tiles } from '#infra/audit-tree/tiles.ts'
import { installation, readTiles } from '#infra/audit-tree/tree-rows.ts'
import { bigints, byteas, integers, texts, uuids } from '#infra/postgres/arrays.ts'
import { sql } from '#infra/postgres/postgres.ts'

/** The trees that are filled: their generation, why it was begun, and the host that their names begin with. */
export type Filled = { readonly generation: number; readonly because: string | null; readonly host: string }

type Tree = {
  readonly id: number
  readonly organisation: string
  readonly size: number
  /** Why it takes nothing more in. */
  readonly stopped: string | null
  /** The index of its last leaf. */
  readonly last: number
}

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/** Events of nobody, and those that another program has written for no organisation of ours, are the installation's. */
const organisationOf = ({ metadata: { organisation_id } }: RecordedEvent): string =>
  organisation_id !== null && uuid.test(organisation_id) ? organisation_id.toLowerCase() : installation

/** New leaves of a tree: those that are no event's, and those of events after them. */
export type Added = { readonly records: readonly string[]; readonly events: readonly RecordedEvent[] }

/** Events by the tree that each is a leaf of. */
export const byTree = (events: readonly RecordedEvent[]): ReadonlyMap<string, Added> => {
  const found = new Map<string, RecordedEvent[]>()
  for (const event of events) {
    const organisation = organisationOf(event)
    const own = found.get(organisation)
    if (own) own.push(event)
    else found.set(organisation, [event])
  }
  return new Map([...found].map(([organisation, own]) => [organisation, { records: [], events: own }]))
}

/**
 * Works out how new leaves change the trees of their organisations. Of each tree only its right edge is read. All is read and hashed
 * before anything is written, since a transaction that has written holds up who reads the log. A tree that was altered takes
 * nothing more in, and holds up no other.
 */
export const grow = async (db: Pool, filled: Filled, added: ReadonlyMap<string, Added>): Promise<TakenIn> => {
  const trees = (await findTrees(db, filled, [...added.keys()])).filter(({ stopped }) => stopped === null)
  const [edges, firsts] = await Promise.all([
    readTiles(
      db,
      trees.flatMap(({ id, size }) => edgeTiles(size).map((tile) => ({ ...tile, tree: id }))),
    ),
    firstLeaves(db, filled, trees),
  ])
  const stopped: Stopped[] = []
  const grown = trees.flatMap((tree): Grown[] => {
    const edge = edgeOrReason(tree, edges.get(tree.id) ?? new Map())
    if (typeof edge === 'string') {
      stopped.push({ id: tree.id, reason: edge })
      return []
    }
    const { records: own = [], events = [] } = added.get(tree.organisation) ?? {}
    const first = firsts.get(tree.id)
    const records = first === undefined ? own : [first, ...own]
    const leaves = [...records.map((record) => Buffer.from(record)), ...events.map(leafRecord)]
    return [{ tree, records, events, ...appended(edge, leaves.map(leafHash)) }]
  })
  return { grown, stopped }
}

const edgeOrReason = ({ size, last }: Tree, tiles: Tiles): Edge | string => {
  if (last + 1 !== size) return `it has ${size} leaves, and its index ${last + 1}`
  try {
    return edgeOf(size, tiles)
  } catch (error) {
    if (error instanceof TileMissing) return error.message
    throw error
  }
}

const findTrees = async (db: Pool, filled: Filled, organisations: readonly string[]): Promise<readonly Tree[]> => {
  const known = await selectTrees(db, filled, organisations)
  if (known.length === organisations.length) return known
  const named = new Set(known.map(({ organisation }) => organisation))
  await beginTrees(
    db,
    filled,
    organisations.filter((organisation) => !named.has(organisation)),
  )
  return selectTrees(db, filled, organisations)
}

const selectTrees = async (
  db: Pool,
  { generation }: Filled,
  organisations: readonly string[],
): Promise<readonly Tree[]> => {
  const { rows } = await db.query<{
    id: number
    organisation: string
    size: string
    stopped: string | null
    last: string | null
  }>({
    name: 'audit-trees',
    text: `
      select id, coalesce(organisation_id, '${installation}') as organisation, size, stopped,
        (select index from audit_leaf where tree_id = audit_tree.id order by index desc limit 1) as last
      from audit_tree
      where generation = $1 and coalesce(organisation_id, '${installation}') = any ($2::uuid[])
      order by id`,
    values: [generation, uuids(organisations)],
  })
  return rows.map(({ size, last, ...row }) => ({ ...row, size: Number(size), last: last === null ? -1 : Number(last) }))
}

const beginTrees = async (db: Pool, { generation, host }: Filled, organisations: readonly string[]): Promise<void> => {
  const originOf = (organisation: string) => {
    const origin = `${host}/audit/${organisation === installation ? 'installation' : organisation}`
    return generation === 1 ? origin : `${origin}/${generation}`
  }
  await db.query({
    text: `
      insert into audit_tree (generation, organisation_id, origin)
      select $1, nullif(organisation, '${installation}'), origin from unnest($2::uuid[], $3::text[]) as begun (organisation, origin)
      on conflict do nothing`,
    values: [generation, uuids(organisations), texts(organisations.map(originOf))],
  })
}

/** The first leaves of trees that follow others, which name the last checkpoint of those. */
const firstLeaves = async (
  db: Pool,
  { generation, because }: Filled,
  trees: readonly Tree[],
): Promise<ReadonlyMap<number, string>> => {
  const empty = generation === 1 ? [] : trees.filter(({ size }) => size === 0)
  if (empty.length === 0) return new Map()
  const { rows } = await db.query<{ id: number; note: string }>({
    text: `
      select begun.id, last.note
      from unnest($2::integer[], $3::uuid[]) as begun (id, organisation), lateral (
        select signed.note from audit_tree as former join audit_checkpoint as signed on signed.tree_id = former.id
        where former.generation < $1 and coalesce(former.organisation_id, '${installation}') = begun.organisation
        order by former.generation desc, signed.size desc limit 1) as last`,
    values: [generation, integers(empty.map(({ id }) => id)), uuids(empty.map(({ organisation }) => organisation))],
  })
  return new Map(
    rows.map(({ id, note }) => [id, canonicalJson({ kind: 'new_log', because, former_checkpoint: note })] as const),
  )
}

export type Grown = {
  readonly tree: Tree
  readonly records: readonly string[]
  readonly events: readonly RecordedEvent[]
  readonly edge: Edge
  readonly tiles: Tiles
}

type Stopped = { readonly id: number; readonly reason: string }

export type TakenIn = { readonly grown: readonly Grown[]; readonly stopped: readonly Stopped[] }

/** The caller's transaction also moves the checkpoint, and is rolled back where another process has moved it. */
export const write = async (db: ClientBase, { grown, stopped }: TakenIn): Promise<void> => {
  await Promise.all([
    writeLeaves(db, grown),
    writeTiles(db, grown),
    db.query({
      name: 'audit-trees-grow',
      text: `
        update audit_tree as tree set size = grown.size from unnest($1::integer[], $2::bigint[]) as grown (id, size)
        where tree.id = grown.id`,
      values: [integers(grown.map(({ tree }) => tree.id)), bigints(grown.map(({ edge }) => edge.size))],
    }),
    ...stopped.map(({ id, reason }) =>
      db.query(sql`update audit_tree set stopped = ${reason} where id = ${id} and stopped is null`),
    ),
  ])
}

const writeLeaves = async (db: ClientBase, grown: readonly Grown[]): Promise<void> => {
  const records = grown.flatMap(({ tree, records: own }) =>
    own.map((record, place) => ({ tree: tree.id, index: tree.size + place, record })),
  )
  if (records.length > 0)
    await db.query({
      text: `
        insert into audit_leaf (tree_id, index, record)
        select * from unnest($1::integer[], $2::bigint[], $3::text[])`,
      values: [
        integers(records.map(({ tree }) => tree)),
        bigints(records.map(({ index }) => index)),
        texts(records.map(({ record }) => record)),
      ],
    })
  const leaves = grown.flatMap(({ tree, records: { length }, events }) =>
    events.map((event, place) => ({ tree: tree.id, index: tree.size + length + place, event })),
  )
  await db.query({
    name: 'audit-leaves',
    text: `
      insert into audit_leaf (tree_id, index, event_id, stream, revision)
      select * from unnest($1::integer[], $2::bigint[], $3::uuid[], $4::text[], $5::bigint[])`,
    values: [
      integers(leaves.map(({ tree }) => tree)),
      bigints(leaves.map(({ index }) => index)),
      uuids(leaves.map(({ event }) => event.id)),
      texts(leaves.map(({ event }) => event.stream)),
      bigints(leaves.map(({ event }) => event.revision)),
    ],
  })
}

const writeTiles = async (db: ClientBase, grown: readonly Grown[]): Promise<void> => {
  const tiles = grown.flatMap(({ tree, tiles: own }) =>
    [...own].map(([key, hashes]) => {
      const [level, index] = key.split('/').map(Number)
      return { tree: tree.id, level: level ?? 0, index: index ?? 0, hashes }
    }),
  )
  await db.query({
    name: 'audit-tiles-write',
    text: `
      insert into audit_tile (tree_id, level, index, hashes)
      select * from unnest($1::integer[], $2::integer[], $3::bigint[], $4::bytea[])
      on conflict (tree_id, level, index) do update set hashes = excluded.hashes`,
    values: [
      integers(tiles.map(({ tree }) => tree)),
      integers(tiles.map(({ level }) => level)),
      bigints(tiles.map(({ index }) => index)),
      byteas(tiles.map(({ hashes }) => hashes)),
    ],
  })
}
