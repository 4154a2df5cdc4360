import type { Pool } from 'pg'
import { installation } from '#infra/audit-tree/tree-rows.ts'
import { findCheckpoint } from '#infra/consumers/checkpoint.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { sql, type Query } from '#infra/postgres/postgres.ts'

export type Selection = {
  /** Its type and its id, joined by a dash. */
  readonly record?: string
  readonly person?: string
  /** Recorded from this moment on, and before another. */
  readonly from?: string
  readonly until?: string
}

/** A log with the checkpoint to which its entries lead. */
export type SignedTree = {
  readonly id: number
  readonly organisation: string
  readonly origin: string
  readonly signed: number
  readonly note: string
}

/** Throws where nothing is signed yet, or where the list of events is not as far as what was signed. */
export const requireSigned = async (
  pool: Pool,
  log: Pick<EventLog, 'read'>,
  organisation: string,
): Promise<SignedTree> => {
  const { rows } = await pool.query<
    Omit<SignedTree, 'signed'> & { signed: string; stream: string | null; revision: string }
  >(sql`
    select tree.id, ${organisation} as organisation, tree.origin, signed.size as signed, signed.note, leaf.stream, leaf.revision
    from audit_tree as tree
    join lateral (select size, note from audit_checkpoint where tree_id = tree.id order by size desc limit 1) as signed on true
    left join audit_leaf as leaf on leaf.tree_id = tree.id and leaf.index = signed.size - 1
    where coalesce(tree.organisation_id, ${installation}) = ${organisation}
    order by tree.generation desc limit 1`)
  const [row] = rows
  if (!row) throw new Error('There is no audit log of that name with a checkpoint.')
  const { stream, revision, ...tree } = row
  const [last] = stream === null ? [] : await log.read(stream, { from: Number(revision), limit: 1 })
  const listed = (await findCheckpoint(pool, 'recorded_events'))?.position
  if (last && (listed === undefined || listed < last.position))
    throw new Error('The list of events is not as far as the last checkpoint yet. Try again in a moment.')
  return { ...tree, signed: Number(tree.signed) }
}

export type Found = {
  readonly stream: string
  readonly revision: number
  readonly event_id: string
  readonly index: number
}

type Row = Omit<Found, 'index'> & {
  readonly recorded_at: string
  readonly position: string
  readonly index: string | null
}

const eventsAtOnce = 100

/** The events that were asked for and have an entry in what was signed, in pages: of a record in their order, else by time. */
export async function* pagesOfFound(
  pool: Pool,
  tree: SignedTree,
  selection: Selection,
): AsyncGenerator<readonly Found[]> {
  let last: Row | undefined
  do {
    const { text, values } =
      selection.record === undefined ? byTime(tree, selection, last) : ofRecord(tree, selection.record, last)
    const { rows } = await pool.query<Row>({
      text: `
        select found.*, leaf.index from (${text}) as found
        left join audit_leaf as leaf on leaf.event_id = found.event_id and leaf.tree_id = ${tree.id}`,
      values,
    })
    yield rows.flatMap((row) =>
      row.index !== null && Number(row.index) < tree.signed ? [{ ...row, index: Number(row.index) }] : [],
    )
    last = rows.length < eventsAtOnce ? undefined : rows.at(-1)
  } while (last)
}

const columns = 'stream, revision, event_id, recorded_at::text as recorded_at, position'

const ofRecord = ({ organisation }: SignedTree, record: string, last: Row | undefined): Query => ({
  text: `
    select ${columns} from recorded_events
    where organisation_id = $1 and stream = $2 and revision > $3 order by revision limit ${eventsAtOnce}`,
  values: [organisation, record, last?.revision ?? -1],
})

/** One index after the other: of a person there is one for each column that may name them. */
const byTime = ({ organisation }: SignedTree, { person, from, until }: Selection, last: Row | undefined): Query => {
  const people = person === undefined ? [undefined] : (['person_id', 'second_person_id'] as const)
  const branches = people.map((column) => {
    const prefix = column === undefined ? 'organisation_id' : `organisation_id, ${column}`
    const value = column === undefined ? '$1::uuid' : '$1::uuid, $2::uuid'
    const besides = column === undefined ? 'and $2::uuid is null' : `and ${column} is not null`
    const isOther = column === 'second_person_id' ? 'and person_id is distinct from $2::uuid' : ''
    return `(
      select ${columns}, recorded_at as at from recorded_events
      where (${prefix}, recorded_at, position) > (${value}, $3::timestamptz, $4)
        and (${prefix}, recorded_at) < (${value}, $5::timestamptz) ${besides} ${isOther}
      order by ${prefix}, recorded_at, position limit ${eventsAtOnce})`
  })
  return {
    text: `
      select stream, revision, event_id, recorded_at, position from (${branches.join(' union all ')}) as branch
      order by at, position limit ${eventsAtOnce}`,
    values: [
      organisation,
      person ?? null,
      last?.recorded_at ?? from ?? '-infinity',
      last?.position ?? '',
      until ?? 'infinity',
    ],
  }
}
