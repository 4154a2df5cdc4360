import { AccessEntry, digestOfAccesses } from '#infra/audit-tree/access-digest.ts'
import type { Finding } from '#infra/audit-tree/kept-checkpoints.ts'
import { bigints, texts } from '#infra/postgres/arrays.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { readTrees, type Reader, type TreeRow } from './verify-rows.ts'

export type ComparedAccesses = {
  readonly accesses: number
  /** All before this moment were dropped, although they would be kept now; null: none were. */
  readonly droppedUntil: string | null
  readonly findings: readonly Finding[]
}

/**
 * Compares the accesses that are still kept with their entries in the audit logs; that these are in their place is verified apart from
 * this. `keptDays` says for how long accesses are kept: whole months before that are gone, and those that were dropped while they
 * were kept for less.
 */
export const verifyAccesses = async (db: Reader, keptDays: number): Promise<ComparedAccesses> => {
  const wanted = await keptSince(db, keptDays)
  const dropped = await droppedUntil(db)
  const kept = dropped !== null && dropped > wanted ? dropped : wanted
  // Whatever comes in meanwhile is not missed.
  const takenIn = await takenInUntil(db)
  let accesses = 0
  const findings: Finding[] = []
  for (const tree of await readTrees(db)) {
    const compared = await compareTree(db, tree, kept, takenIn)
    accesses += compared.accesses
    if (compared.reason !== undefined) findings.push({ origin: tree.origin, reason: compared.reason })
  }
  return { accesses, droppedUntil: kept === wanted ? null : kept, findings }
}

type InTree = { readonly accesses: number; readonly reason: string | undefined }

const compareTree = async (db: Reader, tree: TreeRow, kept: string, takenIn: Date | null): Promise<InTree> => {
  let [from, after, accesses] = [0, kept, 0]
  for (;;) {
    const entries = await entriesOf(db, tree, from)
    for (const { index, entry, isKept, found } of await foundOf(db, tree, entries, after, kept)) {
      if (!isKept) continue
      if (found.between > 0)
        return { accesses, reason: `leaf ${index}: ${found.between} accesses have no entry before it` }
      if (found.accesses !== entry.accesses || found.sha256 !== entry.sha256)
        return {
          accesses,
          reason: `leaf ${index}: the accesses from ${entry.since} until ${entry.until} are not those that were recorded`,
        }
      accesses += entry.accesses
    }
    const last = entries.at(-1)
    if (!last) break
    from = last.index + 1
    if (last.entry.until > after) after = last.entry.until
  }
  const behind = await withoutEntry(db, tree, after, takenIn)
  return { accesses, reason: behind > 0 ? `${behind} accesses after ${after} have no entry` : undefined }
}

const keptSince = async (db: Reader, keptDays: number): Promise<string> => {
  const { rows } = await db.query<{ kept: Date }>(sql`
    select date_trunc('month', (now() - make_interval(days => ${keptDays})) at time zone 'UTC') at time zone 'UTC' as kept`)
  return rows[0]?.kept.toISOString() ?? ''
}

/** A month whose table is there was not dropped, whatever is said of it. */
const droppedUntil = async (db: Reader): Promise<string | null> => {
  const { rows } = await db.query<{ until: Date | null }>(sql`
    select (to_date(max(month), 'YYYY_MM') + interval '1 month') at time zone 'UTC' as until from access_month_dropped
    where to_regclass('access_record_' || month) is null`)
  return rows[0]?.until?.toISOString() ?? null
}

type Entry = { readonly index: number; readonly entry: AccessEntry }

const entriesAtOnce = 200

const entriesOf = async (db: Reader, { id }: TreeRow, from: number): Promise<readonly Entry[]> => {
  const { rows } = await db.query<{ index: string; record: string }>(sql`
    select index, record from audit_leaf where tree_id = ${id} and index >= ${from} and record is not null
      and record::json ->> 'kind' = 'accesses'
    order by index limit ${entriesAtOnce}`)
  return rows.map(({ index, record }) => ({ index: Number(index), entry: AccessEntry.parse(JSON.parse(record)) }))
}

type Found = { readonly between: number; readonly accesses: number; readonly sha256: string }

/** The accesses of each entry as they are now, and how many lie before it and after the one before. */
const foundOf = async (db: Reader, tree: TreeRow, entries: readonly Entry[], after: string, kept: string) => {
  const afters = entries.map((_, place) => {
    const before = entries[place - 1]?.entry.until ?? after
    return before > after ? before : after
  })
  const { rows } = await db.query<Found>({
    text: `
      select between_them.accesses as between, own.* from
        unnest($2::text[], $3::text[], $4::text[], $5::bigint[]) as entry (after, since, until, place)
      cross join lateral (
        select count(*)::integer as accesses from access_record
        where organisation_id = $1 and at >= entry.after::timestamptz and at < entry.since::timestamptz) as between_them
      cross join lateral (
        select count(*)::integer as accesses, ${digestOfAccesses} as sha256 from access_record
        where organisation_id = $1 and at >= entry.since::timestamptz and at < entry.until::timestamptz) as own
      order by place`,
    values: [
      tree.organisation,
      texts(afters),
      texts(entries.map(({ entry }) => entry.since)),
      texts(entries.map(({ entry }) => entry.until)),
      bigints(entries.map((_, place) => place)),
    ],
  })
  return entries.flatMap((each, place) => {
    const found = rows[place]
    return found ? [{ ...each, isKept: each.entry.since >= kept, found }] : []
  })
}

/** Every access before this has its entry; null: none has. */
const takenInUntil = async (db: Reader): Promise<Date | null> => {
  const { rows } = await db.query<{ until: Date | null }>(
    'select accesses_until as until from audit_generation order by generation desc limit 1',
  )
  return rows[0]?.until ?? null
}

/** Those that should have one. */
const withoutEntry = async (
  db: Reader,
  { organisation }: TreeRow,
  after: string,
  takenIn: Date | null,
): Promise<number> => {
  const { rows } = await db.query<{ accesses: number }>(sql`
    select count(*)::integer as accesses from access_record
    where organisation_id = ${organisation} and at >= ${after} and at < ${takenIn}`)
  return rows[0]?.accesses ?? 0
}
