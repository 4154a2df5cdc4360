import type { KeyObject } from 'node:crypto'
import type { ClientBase, Pool } from 'pg'
import type { Finding } from '#infra/audit-tree/kept-checkpoints.ts'
import { headText } from '#infra/audit-tree/checkpoint-text.ts'
import { consistencyProof, isConsistent, rootOf, type NodeAt } from '#infra/audit-tree/merkle.ts'
import { bytesOfPublicKey, signNote } from '#infra/audit-tree/signed-note.ts'
import { nodeIn, tilesFor, TileMissing, type Tiles } from '#infra/audit-tree/tiles.ts'
import { auditConsumer, readTiles } from '#infra/audit-tree/tree-rows.ts'
import type { KeptNote } from '#infra/audit-tree/witness-notes.ts'
import type { Checkpoint } from '#infra/consumers/checkpoint.ts'
import { StaleCheckpoint } from '#infra/consumers/failures.ts'
import { bigints, byteas, integers, texts } from '#infra/postgres/arrays.ts'
import { sql, transaction } from '#infra/postgres/postgres.ts'
import type { WitnessFile } from './witness-file.ts'

type Signing = {
  readonly pool: Pool
  readonly key: KeyObject
  readonly generation: number
  /** That of the process that fills the trees: once another one has begun, this one signs nothing more. */
  readonly fence: Checkpoint
  /** The time between two checkpoints of a tree. */
  readonly signAfterMs: number
  /** Why a tree is not signed, by what is known of it elsewhere. */
  readonly refusalOf: WitnessFile['refusalOf']
}

type Tree = {
  readonly id: number
  readonly origin: string
  readonly size: number
  /** The newest checkpoint. */
  readonly last: { readonly size: number; readonly root: Buffer } | undefined
}

const treesAtOnce = 100

/** Notes the public key, so that whoever has no secret can verify. */
export const recordKey = async (pool: Pool, key: KeyObject): Promise<void> => {
  await pool.query(sql`insert into audit_key (public_key) values (${bytesOfPublicKey(key)}) on conflict do nothing`)
}

/**
 * Signs every tree that has grown since its last checkpoint. A tree that is smaller than that, or does not begin with it, is
 * not signed.
 */
export const signTrees = async (
  signing: Signing,
): Promise<{ readonly refused: readonly Finding[]; readonly signed: readonly KeptNote[] }> => {
  const refused = [...(await stoppedTrees(signing))]
  const signed: KeptNote[] = []
  let last: number | undefined = 0
  while (last !== undefined) {
    const after: number = last
    const some = await transaction(signing.pool, (db) => signSome(db, signing, after))
    refused.push(...some.refused)
    signed.push(...some.signed)
    last = some.last
  }
  return { refused, signed }
}

/** Those that take nothing more in, because they were altered. */
const stoppedTrees = async ({ pool, generation }: Signing): Promise<readonly Finding[]> => {
  const { rows } = await pool.query<Finding>(sql`
    select origin, stopped as reason from audit_tree where generation = ${generation} and stopped is not null order by id limit 100`)
  return rows
}

const signSome = async (db: ClientBase, signing: Signing, after: number) => {
  const { key, fence, refusalOf } = signing
  const locked = await lockUnsigned(db, signing, after)
  if (locked.length === 0) return { refused: [], signed: [], last: undefined }
  const refusedElsewhere = locked.flatMap(({ origin, last }): Finding[] => {
    const reason = refusalOf(origin, last?.size ?? 0)
    return reason === undefined ? [] : [{ origin, reason }]
  })
  const trees = locked.filter(({ origin }) => !refusedElsewhere.some((each) => each.origin === origin))
  const at = await fencedNow(db, fence)
  const wanted = trees.flatMap((tree) =>
    shrunk(tree) ? [] : tilesFor((nodeAt) => proofOf(tree, nodeAt)).map((tile) => ({ ...tile, tree: tree.id })),
  )
  const tiles = await readTiles(db, wanted)
  const outcomes = trees.map((tree) => ({ tree, ...headOf(tree, tiles.get(tree.id) ?? new Map()) }))
  const signed = outcomes.flatMap(({ tree, root }): Signed[] => {
    if (!root) return []
    const note = signNote(headText({ ...tree, root }), tree.origin, key, at)
    return [{ tree, root, note }]
  })
  await store(db, signed, at)
  const refused = outcomes.flatMap(({ tree: { origin }, reason }) => (reason === undefined ? [] : [{ origin, reason }]))
  return {
    refused: [...refusedElsewhere, ...refused],
    signed: signed.map(({ tree: { origin, size }, note }) => ({ origin, size, note })),
    last: locked.length < treesAtOnce ? undefined : locked.at(-1)?.id,
  }
}

const lockUnsigned = async (
  db: ClientBase,
  { generation, signAfterMs }: Signing,
  after: number,
): Promise<readonly Tree[]> => {
  const { rows } = await db.query<{
    id: number
    origin: string
    size: string
    last_size: string | null
    root: Buffer
  }>(sql`
    select tree.id, tree.origin, tree.size, last.size as last_size, last.root
    from audit_tree as tree left join lateral (
      select size, root from audit_checkpoint where tree_id = tree.id order by size desc limit 1) as last on true
    where tree.generation = ${generation} and tree.id > ${after} and tree.size <> tree.signed_size and tree.stopped is null
      and (tree.signed_at is null or tree.signed_at < clock_timestamp() - make_interval(secs => ${signAfterMs / 1_000}))
    order by tree.id limit ${treesAtOnce} for update of tree`)
  return rows.map(({ id, origin, size, last_size, root }) => ({
    id,
    origin,
    size: Number(size),
    last: last_size === null ? undefined : { size: Number(last_size), root },
  }))
}

/**
 * The time by the clock of the database, for as long as this process fills the trees: whoever takes them over waits until the end
 * of the transaction, or is noticed here.
 */
export const fencedNow = async (db: ClientBase, fence: Checkpoint): Promise<Date> => {
  const { rows } = await db.query<{ generation: number; now: Date }>(sql`
    select generation, date_trunc('second', clock_timestamp()) as now from consumer_checkpoint
    where name = ${auditConsumer.name} for share`)
  if (rows[0]?.generation !== fence.generation) throw new StaleCheckpoint('Another process fills the audit log.')
  return rows[0].now
}

const proofOf = ({ size, last }: Tree, nodeAt: NodeAt) => ({
  root: rootOf(size, nodeAt),
  proof: last && last.size <= size ? consistencyProof(last.size, size, nodeAt) : [],
})

/** Somebody has altered it: it only ever grows. */
const shrunk = ({ size, last }: Tree): boolean => size < Math.max(0, last?.size ?? 0)

type Head = { readonly root?: Buffer; readonly reason?: string }

const headOf = (tree: Tree, tiles: Tiles): Head => {
  const { size, last } = tree
  if (shrunk(tree)) return { reason: `it has ${size} leaves, and ${last?.size ?? 0} were signed` }
  try {
    const { root, proof } = proofOf(tree, nodeIn(tiles))
    const isConsistentNow = !last || isConsistent(last, { size, root }, proof)
    if (isConsistentNow && last?.size === size)
      return { reason: `its ${size} leaves were signed, and it says otherwise` }
    if (isConsistentNow) return { root }
    return { reason: `its ${size} leaves do not begin with the ${last.size} that were signed` }
  } catch (error) {
    if (error instanceof TileMissing) return { reason: error.message }
    throw error
  }
}

type Signed = { readonly tree: Tree; readonly root: Buffer; readonly note: string }

const store = async (db: ClientBase, signed: readonly Signed[], at: Date): Promise<void> => {
  if (signed.length === 0) return
  await db.query({
    name: 'audit-checkpoints',
    text: `
      with signed as materialized (
        select * from unnest($1::integer[], $2::bigint[], $3::bigint[], $4::bytea[], $5::text[])
          as signed (tree_id, size, former_size, root, note)
      ), stored as (
        insert into audit_checkpoint (tree_id, size, former_size, root, note, signed_at) select *, $6::timestamptz from signed)
      update audit_tree as tree set signed_size = signed.size, signed_at = $6::timestamptz from signed where tree.id = signed.tree_id`,
    values: [
      integers(signed.map(({ tree }) => tree.id)),
      bigints(signed.map(({ tree }) => tree.size)),
      bigints(signed.map(({ tree }) => tree.last?.size ?? 0)),
      byteas(signed.map(({ root }) => root)),
      texts(signed.map(({ note }) => note)),
      at,
    ],
  })
}
