import { z } from 'zod'
import { OrganisationId } from '#domain/values.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { withDeadline } from '#infra/postgres/postgres.ts'
import { kinds, workKinds, type Kind, type WorkKind } from './kinds.ts'

/** So many are counted: a thousand are looked through as fast as a page of a list. */
const mostCounted = 1_000

export const Waiting = z
  .object({
    work: z.enum(workKinds).describe('What waits: the records that a list of the team has under a state.'),
    count: z.int().describe(`So many of them, up to ${mostCounted}.`),
    is_more: z.boolean().describe('True where there are more than count.'),
    first_id: z.uuid().nullable().describe('The one that stands first in its list. Another one: the list is another.'),
  })
  .meta({ id: 'WaitingWork' })
export type Waiting = z.output<typeof Waiting>

/** All that waits in an organisation, as it was read at a moment of the database. */
export type Reading = {
  readonly at: number
  readonly waiting: readonly Waiting[]
}

const mostLookedAt = 10_000

/** An index has them, so that hardly any but those that wait are looked at. */
const columnsOf = (kind: WorkKind): readonly string[] => {
  const { table, id, among, where, order }: Kind = kinds[kind]
  const found =
    among === undefined
      ? `from ${table} where organisation_id = asked.id and ${where}`
      : `from (select * from ${table} where organisation_id = asked.id and ${among}
          order by ${order} limit ${mostLookedAt}) as ${table} where ${where}`
  return [
    `(select count(*)::int from (select ${found} limit ${mostCounted + 1}) as found) as ${kind}`,
    `(select ${id} ${found} order by ${order} limit 1) as first_of_${kind}`,
  ]
}

const text = `select asked.id as organisation_id, extract(epoch from statement_timestamp()) * 1000 as at,
    ${workKinds.flatMap(columnsOf).join(',\n    ')}
  from unnest($1::uuid[]) as asked (id)`

const Row = z.looseObject({ organisation_id: OrganisationId, at: z.coerce.number() })
const Count = z.int()
const First = z.uuid().nullable()

const withinMs = 5_000

/** Reads what waits in each of these organisations: the one place where it is counted. */
export const readWaiting = async (
  db: Database,
  organisations: readonly OrganisationId[],
): Promise<ReadonlyMap<OrganisationId, Reading>> => {
  const { rows } = await db.query(withDeadline({ name: 'waiting-work', text, values: [organisations] }, withinMs))
  return new Map(
    rows.map((each) => {
      const { organisation_id, at, ...row } = Row.parse(each)
      const waiting = workKinds.map((work) => {
        const found = Count.parse(row[work])
        const first_id = First.parse(row[`first_of_${work}`])
        return { work, count: Math.min(found, mostCounted), is_more: found > mostCounted, first_id }
      })
      return [organisation_id, { at, waiting }] as const
    }),
  )
}
