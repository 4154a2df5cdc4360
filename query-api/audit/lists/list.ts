import { z } from 'zod'
import type { Kind } from '#domain/event-kinds.ts'
import { OrganisationId, type OrganisationId as Organisation } from '#domain/values.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { cursorOf, CursorTime, readCursorAs, unknownCursor } from '#infra/http/cursor.ts'
import { auditRoute, route, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { csvAnswer, format, wantsCsv, type CsvRow } from '../../csv.ts'
import { pageParameters } from '../../page.ts'
import { untilFound } from '../as-of/until-found.ts'
import type { EventRow } from '../asked.ts'
import type { makeTurns } from '../turns.ts'
import { momentOf, momentParameters, momentShown, ShownMoment, type AskedMoment } from './moment.ts'
import { candidatesOf, eachRead, placeInList, type Past, type Place, type UnreadRecord } from './walk.ts'

export type ListDeps = {
  readonly pool: Database
  readonly eventLog: Pick<EventLog, 'read' | 'head'>
  readonly inTurn: ReturnType<typeof makeTurns>
}

/** The rows of some candidates, one for each; undefined: it does not belong to the list. */
export type RowsOf<Filters, Row> = (
  past: Past,
  rows: readonly EventRow[],
  filters: Filters,
) => Promise<readonly (Row | undefined)[]>

type List<Filters extends z.ZodRawShape, Row extends z.ZodType> = {
  readonly name: string
  readonly summary: string
  readonly filters: Filters
  /** The events each of which may stand for a row. */
  readonly kinds: readonly Kind[]
  readonly row: Row
  readonly rowsOf: RowsOf<z.output<z.ZodObject<Filters>>, z.input<Row>>
  readonly example: Readonly<Record<string, string>>
  readonly columns: readonly string[]
  /** The lines of a row in a CSV file. */
  readonly linesOf: (row: z.input<Row>) => readonly CsvRow[]
}

const withinMs = 10_000

const Asked = z.object({ ...momentParameters, format, ...pageParameters })
type Asked = z.output<typeof Asked>

export const mostUnread = 100

export const unread = z
  .array(z.object({ record: z.string(), why: z.string() }))
  .describe(
    'Records that cannot be read, so that the list may lack them: as far as it was made for this answer, up to 100.',
  )

const answerOf = <Row extends z.ZodType>(row: Row) =>
  z.object({
    data: z.array(row),
    total: z.int().nullable().describe('All rows of the list. null: there was no time to count them.'),
    is_cut: z.boolean().describe('True where there was no time to count all rows: go on with next_cursor to the end.'),
    unread,
    ...ShownMoment.shape,
    next_cursor: z.string().nullable(),
  })

/**
 * A list of what stood at a moment. Its rows are made in one way, whatever it lists: the read model of all events names the
 * events that rows stand for (that a policy was set up, that a quote was bought, a call), the newest first and as far as they
 * are known at the moment; for some of these at a time, the streams of their records are read from the log and folded up to the
 * moment, by the folds of the domain. No more than these is ever in memory. The first page counts on to the end of the list,
 * and the cursor carries the total and the moment from page to page, so that all pages are of one moment. When the time is up,
 * a page ends where it is, and the total is not known.
 */
export const listRoute = <const Filters extends z.ZodRawShape, Row extends z.ZodType>(
  { pool, eventLog, inTurn }: ListDeps,
  list: List<Filters, Row>,
): Route => {
  const query = z.object({ ...list.filters, ...Asked.shape })
  return route(
    {
      ...auditRoute,
      method: 'get',
      address: `/audit/v1/organisations/:organisation_id/lists/${list.name}`,
      summary: list.summary,
      path: z.object({ organisation_id: OrganisationId }),
      query,
      example: { query: { ...list.example } },
      alsoAs: 'text/csv',
      answers: { 200: answerOf(list.row) },
      errors: ['invalid_parameter'],
    },
    async ({ path: { organisation_id }, query: sent, header }) => {
      // As the schemas above have made it.
      const asked = sent as Asked & z.output<z.ZodObject<Filters>>
      const { data, total, ...page } = await inTurn(organisation_id, async () =>
        pageOf({ pool, eventLog }, list, organisation_id, asked),
      )
      if (!wantsCsv(asked.format, { header })) return { status: 200, body: { data, total, ...page } }
      const file = csvAnswer(list.name, list.columns, data.flatMap(list.linesOf), page.next_cursor)
      const headers = {
        ...file.headers,
        ...(total !== null && { 'X-Total': String(total) }),
        ...unreadHeader(page.unread),
      }
      return { ...file, headers, shows: data }
    },
  )
}

/** A file has no other place for them. */
export const unreadHeader = (records: readonly UnreadRecord[]) =>
  records.length > 0 ? { 'X-Unread': records.map(({ record }) => record).join(', ') } : {}

/** Where a list goes on: with the moment and the total of its first page. */
type Begun = { readonly moment: AskedMoment; readonly from?: Place; readonly total?: number | null }

const token = z.string().regex(/^[!-~]{1,200}$/)
const none = z.literal('')
const Written = z.tuple([
  z.string(),
  CursorTime.or(none),
  token.or(none),
  z.string().regex(/^\d{0,15}$/),
  CursorTime,
  token,
])

const beginOf = async (eventLog: ListDeps['eventLog'], name: string, asked: Asked): Promise<Begun> => {
  if (asked.cursor === undefined) return { moment: await momentOf(eventLog, asked) }
  const [of, knownAt, upTo, counted, at, place] = readCursorAs(asked.cursor, Written)
  const moment = { known_at: knownAt || undefined, position: upTo || undefined }
  const isAnother = (['known_at', 'position'] as const).some((each) => (asked[each] ?? moment[each]) !== moment[each])
  if (of !== name || isAnother) throw unknownCursor()
  return { moment, from: { at, position: place }, total: counted === '' ? null : Number(counted) }
}

const cursorAfter = (name: string, { known_at = '', position = '' }: AskedMoment, total: number | null, place: Place) =>
  cursorOf([name, known_at, position, total === null ? '' : String(total), place.at, place.position])

const pageOf = async <Filters extends z.ZodRawShape, Row extends z.ZodType>(
  { pool, eventLog }: Omit<ListDeps, 'inTurn'>,
  list: List<Filters, Row>,
  organisation_id: Organisation,
  asked: Asked & z.output<z.ZodObject<Filters>>,
) => {
  const begun = await beginOf(eventLog, list.name, asked)
  await untilFound({ db: pool, eventLog }, begun.moment)
  const past = { organisation_id, moment: begun.moment, pool, eventLog }
  const walked = await walk(past, list, asked, begun)
  const total = begun.total === undefined ? walked.total : begun.total
  return {
    data: walked.data,
    total,
    unread: walked.unread,
    is_cut: total === null,
    ...momentShown(begun.moment),
    next_cursor: walked.next && cursorAfter(list.name, begun.moment, total, walked.next),
  }
}

const walk = async <Filters extends z.ZodRawShape, Row extends z.ZodType>(
  past: Past,
  { kinds, rowsOf }: List<Filters, Row>,
  asked: Asked & z.output<z.ZodObject<Filters>>,
  { from, total }: Begun,
) => {
  const deadline = performance.now() + withinMs
  const data: z.input<Row>[] = []
  const unreadable: UnreadRecord[] = []
  let [count, lastShown]: [number, Place | undefined] = [0, undefined]
  for await (const { rows, after } of candidatesOf(past, kinds, from)) {
    const { made, unread: lacking } = await eachRead(
      rows,
      ({ stream }) => stream,
      async (some) => rowsOf(past, some, asked),
    )
    unreadable.push(...lacking.slice(0, mostUnread - unreadable.length))
    for (const [place, row] of rows.entries()) {
      const shown = made[place]
      if (shown === undefined) continue
      count++
      if (count > asked.limit) continue
      data.push(shown)
      lastShown = placeInList(row)
    }
    const isFull = count > asked.limit
    if (after === undefined)
      return { data, unread: unreadable, total: count, next: isFull ? (lastShown ?? null) : null }
    // Only the first page counts what comes after it.
    if (performance.now() > deadline || (isFull && total !== undefined))
      return { data, unread: unreadable, total: null, next: (data.length === asked.limit && lastShown) || after }
  }
  return { data, unread: unreadable, total: count, next: null }
}
