import type { ClientBase, Pool } from 'pg'
import type { Position } from '#domain/event.ts'
import { edgeTiles, hashBytes, tileWidth, type Edge } from '#infra/audit-tree/tiles.ts'
import { auditConsumer, installation } from '#infra/audit-tree/tree-rows.ts'
import { findCheckpoint } from '#infra/consumers/checkpoint.ts'
import { bigints, integers } from '#infra/postgres/arrays.ts'

export type Reader = Pool | ClientBase

export type TreeRow = {
  readonly id: number
  readonly organisation: string
  readonly origin: string
  readonly size: number
  readonly signed_size: number
}

/** The trees that are filled now. */
export const readTrees = async (db: Reader): Promise<readonly TreeRow[]> => {
  const { rows } = await db.query<Omit<TreeRow, 'size' | 'signed_size'> & { size: string; signed_size: string }>(`
    select id, coalesce(organisation_id, '${installation}') as organisation, origin, size, signed_size from audit_tree
    where generation = (select max(generation) from audit_generation) order by id`)
  return rows.map((row) => ({ ...row, size: Number(row.size), signed_size: Number(row.signed_size) }))
}

/** Every event up to here has its leaf. */
export const takenUpTo = async (db: Reader): Promise<Position | undefined> =>
  (await findCheckpoint(db, auditConsumer.name))?.position

export type LeafRow = {
  readonly index: number
  readonly event_id: string | null
  readonly stream: string | null
  readonly revision: number | null
  readonly record: string | null
}

type LeafRange = { readonly tree: number; readonly from: number; readonly count: number }

/** The leaf index of several trees, from a leaf on, in one statement. */
export const leavesOf = async (
  db: Reader,
  ranges: readonly LeafRange[],
): Promise<ReadonlyMap<number, readonly LeafRow[]>> => {
  const { rows } = await db.query<
    { tree_id: number; index: string; revision: string | null } & Omit<LeafRow, 'index' | 'revision'>
  >({
    name: 'audit-verify-leaves',
    text: `
      select leaf.* from unnest($1::integer[], $2::bigint[], $3::bigint[]) as wanted (tree_id, first, count), lateral (
        select tree_id, index, event_id, stream, revision, record from audit_leaf
        where audit_leaf.tree_id = wanted.tree_id and index >= wanted.first and index < wanted.first + wanted.count
        order by index) as leaf`,
    values: [
      integers(ranges.map(({ tree }) => tree)),
      bigints(ranges.map(({ from }) => from)),
      bigints(ranges.map(({ count }) => count)),
    ],
  })
  return Map.groupBy(
    rows.map(({ index, revision, ...row }) => ({
      ...row,
      index: Number(index),
      revision: revision === null ? null : Number(revision),
    })),
    ({ tree_id }) => tree_id,
  )
}

type Compared = { readonly tree: TreeRow; readonly edge: Edge; readonly signed: number }

type Beyond = {
  readonly id: number
  readonly leaf: string | null
  readonly checkpoint: string | null
  readonly tiles: string
  readonly bytes: string
}

/** Says of trees whose leaves are right what else is stored of them and should not be, or is missing at their end. */
export const beyondTrees = async (db: Reader, compared: readonly Compared[]): Promise<ReadonlyMap<number, string>> => {
  const { rows } = await db.query<Beyond>({
    name: 'audit-verify-beyond',
    text: `
      select id,
        (select min(index) from audit_leaf where tree_id = id and (index >= size or index < 0)) as leaf,
        (select min(stored.size) from audit_checkpoint as stored where tree_id = id and (stored.size > wanted.signed or stored.size < 1))
          as checkpoint,
        (select count(*) from audit_tile where tree_id = id) as tiles,
        (select coalesce(sum(length(hashes)), 0) from audit_tile where tree_id = id) as bytes
      from unnest($1::integer[], $2::bigint[], $3::bigint[]) as wanted (id, size, signed)`,
    values: [
      integers(compared.map(({ tree }) => tree.id)),
      bigints(compared.map(({ edge }) => edge.size)),
      bigints(compared.map(({ signed }) => signed)),
    ],
  })
  const byTree = new Map(rows.map((row) => [row.id, row]))
  return new Map(
    compared.flatMap(({ tree, edge, signed }) => {
      const found = byTree.get(tree.id)
      const reason = found && reasonOf(tree, edge, signed, found)
      return reason === undefined ? [] : [[tree.id, reason] as const]
    }),
  )
}

const reasonOf = (tree: TreeRow, edge: Edge, signed: number, found: Beyond): string | undefined => {
  if (found.leaf !== null) return `leaf ${found.leaf}: no event of the log belongs there`
  if (tree.size !== edge.size)
    return `leaf ${Math.min(tree.size, edge.size)}: the tree is said to have ${tree.size} leaves, and has ${edge.size}`
  if (found.checkpoint !== null) return `checkpoint ${found.checkpoint}: the log has no such size`
  if (tree.signed_size !== signed) return `checkpoint ${tree.signed_size}: it was signed, and is not there`
  const expected = tilesOf(edge.size)
  return Number(found.tiles) === expected.tiles && Number(found.bytes) === expected.bytes
    ? undefined
    : 'its tiles: there are more than its leaves make'
}

/** The tiles that a tree of this size has, and their bytes. */
const tilesOf = (size: number): { readonly tiles: number; readonly bytes: number } => {
  const partial = edgeTiles(size)
  let full = 0
  for (let hashes = Math.floor(size / tileWidth); hashes > 0; hashes = Math.floor(hashes / tileWidth)) full += hashes
  const hashesInPartial = partial.reduce((sum, { width }) => sum + width, 0)
  return { tiles: full + partial.length, bytes: (full * tileWidth + hashesInPartial) * hashBytes }
}

/** Events that consumers would not find, since their category is not that of their stream. */
export const wrongCategory = async (db: Reader): Promise<readonly { origin: string; reason: string }[]> => {
  const { rows } = await db.query<{ id: string; stream: string; category: string }>(`
    select id, stream, category from event_log.event where category <> split_part(stream, '-', 1)
    order by transaction_id, position limit 1`)
  return rows.map(({ id, stream, category }) => ({
    origin: 'event log',
    reason: `the event ${id} of ${stream} stands in the category ${category}`,
  }))
}
