import { notFound } from '#domain/rejection.ts'
import { inclusionProof, leafHash, rootFromLeaf, type NodeAt } from '#infra/audit-tree/merkle.ts'
import { readHead } from '#infra/audit-tree/checkpoint-text.ts'
import { leafRecord } from '#infra/audit-tree/leaf-record.ts'
import { readNote } from '#infra/audit-tree/signed-note.ts'
import { nodeIn, tilesFor } from '#infra/audit-tree/tiles.ts'
import { installation, readTiles } from '#infra/audit-tree/tree-rows.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'

export type Tree = {
  readonly id: number
  readonly origin: string
  readonly size: number
}

/** The audit log of an organisation or, without one, of the installation: the last that was begun. */
export const requireTree = async (db: Database, organisation: string = installation): Promise<Tree> => {
  const { rows } = await db.query<{ id: number; origin: string; size: string }>({
    name: 'audit-tree-of',
    text: `
      select id, origin, size from audit_tree
      where coalesce(organisation_id, '${installation}') = $1 order by generation desc limit 1`,
    values: [organisation],
  })
  const [row] = rows
  if (!row) throw notFound('audit log')
  return { ...row, size: Number(row.size) }
}

export type CheckpointRow = {
  readonly size: number
  readonly note: string
  readonly signed_at: Date
}

/** Checkpoints of a log, the largest first, from before a size on, each with the signatures of witnesses. */
export const readCheckpoints = async (
  db: Database,
  tree: Tree,
  { before, limit }: { readonly before?: number | undefined; readonly limit: number },
): Promise<readonly CheckpointRow[]> => {
  const { rows } = await db.query<{ size: string; note: string; signed_at: Date }>(sql`
    select size, signed_at, note || coalesce((
      select string_agg(line, '' order by witness) from audit_cosignature as seen
      where seen.tree_id = stored.tree_id and seen.size = stored.size), '') as note
    from audit_checkpoint as stored
    where tree_id = ${tree.id} and size < coalesce(${before ?? null}::bigint, 9223372036854775807)
    order by size desc limit ${limit}`)
  return rows.map((row) => ({ ...row, size: Number(row.size) }))
}

/** The checkpoint of a size or, without one, the newest. */
export const requireCheckpoint = async (db: Database, tree: Tree, size?: number): Promise<CheckpointRow> => {
  const before = size === undefined ? undefined : size + 1
  const [row] = await readCheckpoints(db, tree, { before, limit: 1 })
  if (!row || (size !== undefined && row.size !== size)) throw notFound('checkpoint')
  return row
}

/** Does what looks into a tree, with the tiles that it needs read at once. */
export const inTree = async <Result>(db: Database, tree: Tree, work: (nodeAt: NodeAt) => Result): Promise<Result> => {
  const wanted = tilesFor(work).map((tile) => ({ ...tile, tree: tree.id }))
  const tiles = await readTiles(db, wanted)
  return work(nodeIn(tiles.get(tree.id) ?? new Map()))
}

type Leaf = {
  readonly index: string
  readonly event_id: string | null
  readonly stream: string | null
  readonly revision: string | null
  readonly record: string | null
}

/** An entry of a log, by its event or by its place. */
export const requireLeaf = async (
  db: Database,
  tree: Tree,
  { event_id, index }: { readonly event_id?: string | undefined; readonly index?: number | undefined },
): Promise<Leaf> => {
  const { text, values } =
    event_id === undefined
      ? sql`tree_id = ${tree.id} and index = ${index ?? 0}`
      : sql`tree_id = ${tree.id} and event_id = ${event_id}`
  const { rows } = await db.query<Leaf>({
    text: `select index, event_id, stream, revision, record from audit_leaf where ${text} limit 1`,
    values,
  })
  if (!rows[0]) throw notFound(event_id === undefined ? 'entry' : 'event')
  return rows[0]
}

/** The text of an entry, made of the event as it is stored now. */
export const recordOf = async (
  log: Pick<EventLog, 'read'>,
  { record, stream, revision }: Omit<Leaf, 'index'>,
): Promise<string> => {
  if (record !== null) return record
  const [event] = await log.read(stream ?? '', { from: Number(revision), limit: 1 })
  if (!event) throw notFound('event')
  return String(leafRecord(event))
}

/** The fingerprint that a checkpoint has signed. */
const rootOfNote = (note: string): Buffer | undefined => readHead(readNote(note)?.text ?? '')?.root

/** The path from an entry to a checkpoint, and if the entry, as its event is now, leads there. */
export const proofOf = async (
  db: Database,
  tree: Tree,
  { index, record }: { readonly index: number; readonly record: string },
  { size, note }: CheckpointRow,
) => {
  const proof = await inTree(db, tree, (nodeAt) => inclusionProof(index, size, nodeAt))
  const leaf = leafHash(Buffer.from(record))
  const signed = rootOfNote(note)
  const isIncluded = signed !== undefined && rootFromLeaf(leaf, index, size, proof)?.equals(signed) === true
  return { leaf, proof, isIncluded }
}
