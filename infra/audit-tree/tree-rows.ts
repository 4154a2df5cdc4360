import type { Database } from '../postgres/lookups.ts'
import { bigints, integers } from '../postgres/arrays.ts'
import { sql } from '../postgres/postgres.ts'
import { tileKey, type TileName, type Tiles } from './tiles.ts'

/** Stands for the installation where an organisation's id would be. */
export const installation = '00000000-0000-0000-0000-000000000000'

/** The consumer that fills the trees, and keeps its place in the log. */
export const auditConsumer = {
  name: 'audit',
  version: 1,
  categories: [],
  awaited: false,
  role: 'projections',
  lease: 'audit log',
} as const

/** The generation of trees that is filled now. */
export const newestGeneration = async (
  db: Database,
): Promise<{ readonly generation: number; readonly because: string | null }> => {
  const { rows } = await db.query<{ generation: number; because: string | null }>(
    sql`select generation, because from audit_generation order by generation desc limit 1`,
  )
  if (!rows[0]) throw new Error('The table audit_generation is empty.')
  return rows[0]
}

export type TileOfTree = TileName & { readonly tree: number }

/** The tiles of several trees, by tree, in one statement. */
export const readTiles = async (db: Database, wanted: readonly TileOfTree[]): Promise<ReadonlyMap<number, Tiles>> => {
  const found = new Map<number, Map<string, Buffer>>()
  if (wanted.length === 0) return found
  const { rows } = await db.query<{ tree_id: number; level: number; index: string; hashes: Buffer }>({
    name: 'audit-tiles',
    text: `
      select stored.tree_id, stored.level, stored.index, stored.hashes
      from unnest($1::integer[], $2::integer[], $3::bigint[]) as wanted (tree_id, level, index)
      join audit_tile as stored on stored.tree_id = wanted.tree_id and stored.level = wanted.level::smallint
        and stored.index = wanted.index`,
    values: [
      integers(wanted.map(({ tree }) => tree)),
      integers(wanted.map(({ level }) => level)),
      bigints(wanted.map(({ index }) => index)),
    ],
  })
  for (const { tree_id, level, index, hashes } of rows) {
    const tiles = found.get(tree_id) ?? new Map<string, Buffer>()
    tiles.set(tileKey({ level, index: Number(index) }), hashes)
    found.set(tree_id, tiles)
  }
  return found
}
