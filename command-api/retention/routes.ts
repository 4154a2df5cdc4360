import { z } from 'zod'
import { KeptBecause } from '#domain/retention/kept.ts'
import { RetentionKind, RetentionPeriod, RetentionPeriods } from '#domain/retention/events.ts'
import { bindsAt, type Periods } from '#domain/retention/record.ts'
import { CustomerId, OrganisationId } from '#domain/values.ts'
import type { Clock } from '#infra/clock.ts'
import { CursorTime, cursorOf, readCursorAs, unknownCursor } from '#infra/http/cursor.ts'
import { Problem } from '#infra/http/problem.ts'
import { route, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { pageParameters } from '../page.ts'
import { impersonalRoute } from '../operator.ts'
import type { Writer } from '../writing/handle.ts'
import { countDue, DueType, findDue, kindOf, nowFor, typesDue, type DueRecord } from './find-due.ts'
import { findKept } from './find-kept.ts'
import { makePeriodsOf } from './rules.ts'

type Deps = { readonly writer: Writer; readonly pool: Database; readonly clock: Clock }

const address = '/admin/v1/organisations/:organisation_id/retention'
const path = z.object({ organisation_id: OrganisationId })

/** So many of a type are read for a count; whoever wants all of them follows the list. */
const mostRead = 50_000

const Retention = z
  .object({
    periods: RetentionPeriods.describe('For how long records are kept after their end, by their kind.'),
    binds_at: z
      .partialRecord(RetentionKind, z.iso.datetime())
      .describe('Until when the period before binds as well, of the kinds whose period was set less than a day ago.'),
    due: z
      .partialRecord(RetentionKind, z.int())
      .describe(
        `How many records of each kind are over their period now, of the ${mostRead} of each type that began first and came to it.`,
      ),
    due_at_least: z.array(RetentionKind).describe('The kinds of which more may be due: not all were counted.'),
  })
  .meta({ id: 'Retention' })

const Due = z
  .object({
    kind: RetentionKind,
    record: z.object({ type: DueType, id: z.uuid() }),
    contact_id: CustomerId.nullable(),
    second_contact_id: CustomerId.nullable(),
    ended_at: z.iso.datetime().describe('When it came to its end, from which the period counts.'),
    kept_because: z.array(KeptBecause).describe('Empty: it is erased, with the next turn.'),
  })
  .meta({ id: 'RecordDue' })

const Place = z.tuple([z.string(), CursorTime.or(z.literal('-infinity')), z.uuid()])

type DueQuery = { readonly kind?: RetentionKind | undefined; readonly period?: RetentionPeriod | undefined }

/** The periods that are asked about: those that are set, or another one of a kind that is not set yet. */
const askedOf = (periods: RetentionPeriods, { kind, period }: DueQuery): RetentionPeriods => {
  if (kind === undefined) {
    if (period === undefined) return periods
    throw new Problem('invalid_parameter', 'Say with kind for which kind of records the period is.', {
      fields: { kind: 'is needed with period' },
    })
  }
  const asked = period ?? periods[kind]
  if (asked === undefined)
    throw new Problem('invalid_parameter', `No period is set for ${kind}. Add period, such as period=24%20months.`, {
      fields: { period: 'is needed: none is set' },
    })
  return { [kind]: asked }
}

/** The rules as they would be if the period that is asked about were set, and bound already. */
const supposedOf = ({ periods, former }: Periods, { kind, period }: DueQuery): Periods =>
  kind === undefined || period === undefined
    ? { periods, former }
    : { periods: { ...periods, [kind]: period }, former: former.filter((each) => each.kind !== kind) }

type Page = { readonly records: readonly DueRecord<DueType>[]; readonly next_cursor: string | null }

/** A page of what is due, type by type. */
const pageOfDue = async (
  { pool, clock }: Pick<Deps, 'pool' | 'clock'>,
  { organisation_id, periods }: { readonly organisation_id: OrganisationId; readonly periods: RetentionPeriods },
  { cursor, limit }: { readonly cursor?: string | undefined; readonly limit: number },
): Promise<Page> => {
  const [begin, at, id] = cursor === undefined ? [] : readCursorAs(cursor, Place)
  const types = typesDue(periods)
  const from = begin === undefined ? 0 : types.findIndex((type) => type === begin)
  if (from === -1) throw unknownCursor()
  const records: DueRecord<DueType>[] = []
  for (const type of types.slice(from)) {
    const period = periods[kindOf(type)]
    if (period === undefined) continue
    const after = type === begin && at !== undefined && id !== undefined ? { at, id } : undefined
    const asked = { organisation_id, type, periods: [period], now: nowFor(type, clock) }
    const page = await findDue(pool, { ...asked, after, limit: limit - records.length })
    records.push(...page.records)
    if (page.after) return { records, next_cursor: cursorOf([type, page.after.at, page.after.id]) }
    if (records.length === limit) return { records, next_cursor: nextOf(types, type) }
  }
  return { records, next_cursor: null }
}

const beginning = ['-infinity', '00000000-0000-0000-0000-000000000000'] as const

const nextOf = (types: readonly DueType[], type: DueType): string | null => {
  const next = types[types.indexOf(type) + 1]
  return next === undefined ? null : cursorOf([next, ...beginning])
}

/** The numbers of what is due, as far as it is counted. */
const countOfKinds = async (
  { pool, clock }: Pick<Deps, 'pool' | 'clock'>,
  { organisation_id, periods }: { readonly organisation_id: OrganisationId; readonly periods: RetentionPeriods },
) => {
  const due: Partial<Record<RetentionKind, number>> = {}
  const atLeast = new Set<RetentionKind>()
  for (const type of typesDue(periods)) {
    const kind = kindOf(type)
    const period = periods[kind]
    if (period === undefined) continue
    const asked = { organisation_id, type, periods: [period], now: nowFor(type, clock), most: mostRead }
    const { count, isAtLeast } = await countDue(pool, asked)
    due[kind] = (due[kind] ?? 0) + count
    if (isAtLeast) atLeast.add(kind)
  }
  return { due, due_at_least: [...atLeast] }
}

/** Shows for how long records are kept, and those whose time is over: what would go, and what is kept all the same. */
export const retentionRoutes = ({ writer, pool, clock }: Deps): Route[] => {
  const periodsOf = makePeriodsOf(writer)
  return [
    route(
      {
        ...impersonalRoute('owner'),
        method: 'get',
        address,
        summary: 'Show for how long an organisation keeps its records, and how many are over their time',
        path,
        answers: { 200: z.object({ data: Retention }) },
      },
      async ({ path: { organisation_id } }) => {
        const rules = await periodsOf(organisation_id)
        const { periods } = rules
        const counted = await countOfKinds({ pool, clock }, { organisation_id, periods })
        return { status: 200, body: { data: { periods, binds_at: bindsAt(rules, clock.now()), ...counted } } }
      },
    ),
    route(
      {
        ...impersonalRoute('owner'),
        method: 'get',
        address: `${address}/due`,
        summary: 'List the records that are over their time: those that go, and those that are kept, with the reason',
        path,
        query: z.object({
          ...pageParameters,
          kind: RetentionKind.optional(),
          period: RetentionPeriod.optional().describe(
            'With kind: what would go if this were its period. Nothing is erased by it.',
          ),
        }),
        answers: { 200: z.object({ data: z.array(Due), next_cursor: z.string().nullable() }) },
        errors: ['invalid_parameter'],
      },
      async ({ path: { organisation_id }, query }) => {
        const set = await periodsOf(organisation_id)
        const periods = askedOf(set.periods, query)
        const { records, next_cursor } = await pageOfDue({ pool, clock }, { organisation_id, periods }, query)
        const asked = { organisation_id, rules: supposedOf(set, query), now: clock.now() }
        const data = await Promise.all(
          records.map(async (due) => ({
            ...due,
            ended_at: due.ended_at.toISOString(),
            kept_because: [...(await findKept(pool, due, asked))],
          })),
        )
        return { status: 200, body: { data, next_cursor } }
      },
    ),
  ]
}
