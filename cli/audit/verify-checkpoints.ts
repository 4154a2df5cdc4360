import { readHead } from '#infra/audit-tree/checkpoint-text.ts'
import { cosignature, openNote, timeOfNote, verifierOf } from '#infra/audit-tree/signed-note.ts'
import { rootOfEdge, type Edge } from '#infra/audit-tree/tiles.ts'
import { bigints, integers } from '#infra/postgres/arrays.ts'
import type { Reader } from './verify-rows.ts'

export type CheckpointRow = {
  readonly size: number
  readonly former_size: number
  readonly root: Buffer
  readonly note: string
  /** Seconds since 1970. */
  readonly signed_at: string
}

type SizeRange = { readonly tree: number; readonly after: number; readonly upTo: number }

/** The checkpoints of several trees, within a range of sizes, in one statement. */
export const headsOf = async (
  db: Reader,
  ranges: readonly SizeRange[],
): Promise<ReadonlyMap<number, readonly CheckpointRow[]>> => {
  const { rows } = await db.query<
    { tree_id: number; size: string; former_size: string } & Omit<CheckpointRow, 'size' | 'former_size'>
  >({
    name: 'audit-verify-checkpoints',
    text: `
      select head.* from unnest($1::integer[], $2::bigint[], $3::bigint[]) as wanted (tree_id, after, up_to), lateral (
        select tree_id, size, former_size, root, note, extract(epoch from signed_at)::text as signed_at from audit_checkpoint
        where audit_checkpoint.tree_id = wanted.tree_id and size > wanted.after and size <= wanted.up_to
        order by size) as head`,
    values: [
      integers(ranges.map(({ tree }) => tree)),
      bigints(ranges.map(({ after }) => after)),
      bigints(ranges.map(({ upTo }) => upTo)),
    ],
  })
  return Map.groupBy(
    rows.map((row) => ({ ...row, size: Number(row.size), former_size: Number(row.former_size) })),
    ({ tree_id }) => tree_id,
  )
}

type Compared = { readonly edge: Edge; readonly signed: number }

/** Says what is wrong with a checkpoint of a tree that has just its size. */
export const checkCheckpoints = (
  origin: string,
  { edge, signed }: Compared,
  row: CheckpointRow,
  publicKeys: readonly Buffer[],
): string | undefined => {
  const wrong = (reason: string) => `checkpoint ${row.size}: ${reason}`
  if (row.former_size !== signed) return wrong(`the one of ${row.former_size} leaves comes before it, and is not there`)
  const head = readHead(
    openNote(
      row.note,
      publicKeys.map((key) => verifierOf(origin, key)),
    )?.text ?? '',
  )
  if (!head) return wrong('it is not signed with a known key')
  if (head.origin !== origin || head.size !== row.size || !head.root.equals(row.root))
    return wrong('it is not what was signed')
  const timed = publicKeys.map((key) => verifierOf(origin, key, cosignature))
  const times = timed.flatMap((each) => {
    const time = openNote(row.note, [each]) && timeOfNote(row.note, each)
    return time ? [time.getTime() / 1_000] : []
  })
  if (times[0] === undefined || times[0] !== Number(row.signed_at)) return wrong('its time is not what was signed')
  return rootOfEdge(edge).equals(head.root) ? undefined : wrong('the leaves before it are not those that were signed')
}
