import { h, type View } from './view.ts'
import { z } from 'zod'
import { act, type Act } from './act.ts'
import { changes, shownWork, tally, type Waiting } from './live.ts'
import { apiOf, asked, auditOf, pageOf, type Asked, type Page } from './page.ts'
import { instantOf } from './past.ts'
import { Refused } from './read.ts'
import { empty, filters, link, more, section, shortId, table, type Choice, type Column, type Filter } from './show.ts'

/** A filter whose choices may have to be read first. */
type ListFilter = Omit<Filter, 'choices'> & {
  readonly choices?: Filter['choices'] | ((asked: Asked) => Promise<readonly Choice[]>)
}

const offeredTo = async (request: Asked, { choices, ...filter }: ListFilter): Promise<Filter> => {
  if (choices === undefined) return filter
  return { ...filter, choices: typeof choices === 'function' ? await choices(request) : choices }
}

/** A list of the API as a page, and as a part of the page of what waits. */
export type List<Item extends z.ZodType> = {
  readonly title: string
  /** Of the page, below the organisation. */
  readonly path: string
  /** Of the API, below the organisation; `/admin/v1/…` where it is not. */
  readonly api: string
  /** True where it is a list of `/audit/v1`. */
  readonly isAudit?: true
  readonly item: Item
  /** A feed names a place to go on from also where there is no more: a short page is its last. */
  readonly isFeed?: true
  /** Parameters that are always sent. */
  readonly always?: Readonly<Record<string, string>>
  /** `nameOf`: of a user, or of whatever `names` reads, by its id; a part of the id where no name is known. */
  readonly columns: (organisation_id: string, nameOf?: NameOf) => readonly Column<z.output<Item>>[]
  /** Reads the names of what the rows have ids of, such as `userNames`. */
  readonly names?: (asked: Asked) => Promise<NameOf>
  readonly filters: readonly ListFilter[]
  /** Of what waits, that which is among its records, with the state that they have; null: all of them wait. */
  readonly work?: Readonly<Record<string, string | null>>
  /** The acts that whoever looks may do about the list as a whole. */
  readonly acts?: (asked: Asked) => readonly Act[]
  /** Shown above the list, and below it. */
  readonly above?: (asked: Asked) => View
  readonly below?: (asked: Asked) => View
  /** Said where there is nothing, and what to do then. */
  readonly none: string
}

export type NameOf = (id: string) => string

export const idAsName: NameOf = (id) => shortId(id)

const Users = z.object({ data: z.array(z.object({ id: z.string(), name: z.string() })) })

/** The names of users, as far as whoever asks may see them. */
export const userNames = async ({ organisation, now }: Pick<Asked, 'organisation' | 'now'>): Promise<NameOf> => {
  const answer = await now(`${apiOf(organisation?.id ?? '', 'users')}?limit=200`, Users).catch((error: unknown) => {
    if (error instanceof Refused && error.status === 403) return undefined
    throw error
  })
  const names = new Map(answer?.data.map(({ id, name }) => [id, name]))
  return (id) => names.get(id) ?? idAsName(id)
}

const pageSize = 25
const inWork = 8

const readRows = async <Item extends z.ZodType>(
  { api, isAudit, item, always = {}, isFeed }: List<Item>,
  { organisation, read }: Pick<Asked, 'organisation' | 'read'>,
  parameters: URLSearchParams,
  limit: number,
) => {
  const organisation_id = organisation?.id ?? ''
  const isOwn = !api.startsWith('/')
  const sent = new URLSearchParams({
    ...Object.fromEntries(parameters),
    ...always,
    ...(!isOwn && { organisation_id }),
    limit: String(limit),
  })
  const Rows = z.object({
    data: z.array(item),
    next_cursor: z.string().nullable().default(null),
    previous_cursor: z.string().nullable().default(null),
  })
  const address = isOwn ? (isAudit ? auditOf : apiOf)(organisation_id, api) : api
  const { data, next_cursor, previous_cursor } = await read(`${address}?${sent.toString()}`, Rows)
  return { data, next_cursor: isFeed && data.length < limit ? null : next_cursor, previous_cursor }
}

/** The parameters of a list as the API takes them: times are asked for as clocks have them. */
export const askedOf = (url: URL, given: readonly Pick<Filter, 'name' | 'isMoment'>[]): URLSearchParams => {
  const sent = asked(
    url,
    given.map(({ name }) => name),
  )
  for (const { name, isMoment } of given) {
    const at = sent.get(name)
    if (isMoment && at !== null) sent.set(name, instantOf(at))
  }
  return sent
}

/** Said in place of an empty page. */
const noneOf = (url: URL, none: string, isNarrowed: boolean, isMore: boolean): View => {
  if (isMore) return empty('Nothing of this part of the list fits. Go on to the next page.')
  return empty(isNarrowed ? 'Nothing fits. ' : none, isNarrowed && link(url.pathname, 'Show all'))
}

/** The page of a list. */
export const listPage = <Item extends z.ZodType>(list: List<Item>): Page => ({
  address: `/console/organisations/:organisation_id/${list.path}`,
  show: async (request) => {
    const { url, organisation } = request
    const { data, next_cursor, previous_cursor } = await readRows(list, request, askedOf(url, list.filters), pageSize)
    const nameOf = list.names ? await list.names(request) : idAsName
    const offered = await Promise.all(list.filters.map(async (filter) => offeredTo(request, filter)))
    const isNarrowed = list.filters.some(({ name }) => (url.searchParams.get(name) ?? '') !== '')
    return {
      title: list.title,
      main: [
        list.above?.(request),
        list.acts?.(request).map(act),
        offered.length > 0 && filters(url, offered),
        changes(await shownWork(list.work, request)),
        data.length === 0
          ? noneOf(url, list.none, isNarrowed, next_cursor !== null)
          : table(list.title, list.columns(organisation?.id ?? '', nameOf), data),
        more(url, next_cursor, previous_cursor),
        list.below?.(request),
      ],
    }
  },
})

/** A part of the page of what waits. */
export type Part<Item extends z.ZodType> = {
  /** It may follow from the rows that are shown. */
  readonly title: string | ((rows: readonly z.output<Item>[]) => string)
  readonly list: List<Item>
  /** The filters of the list that leave only what waits. */
  readonly narrowed?: Readonly<Record<string, string>>
  /** Said where nothing waits: what of, since the list itself may be long. */
  readonly none: string
}

/** The first of a list that wait for somebody, with the way to all of them. */
export const waiting = async <Item extends z.ZodType>(
  { title, list, narrowed = {}, none }: Part<Item>,
  request: Asked,
  counted: Waiting,
): Promise<View> => {
  const parameters = new URLSearchParams(narrowed)
  const { data, next_cursor } = await readRows(list, request, parameters, inWork)
  const organisation_id = request.organisation?.id ?? ''
  const page = pageOf(organisation_id, list.path)
  const heading = typeof title === 'string' ? title : title(data)
  if (data.length === 0)
    return section(heading, tally({ ...counted, count: 0 }), empty(`${none} `, link(page, 'Open the whole list')))
  const nameOf = list.names ? await list.names(request) : idAsName
  const all = link(
    page + (parameters.size === 0 ? '' : `?${parameters.toString()}`),
    next_cursor === null ? 'Open the list' : 'All of them',
  )
  return section(
    heading,
    // Read a moment after they were counted, rows that are all shown are their number.
    tally(next_cursor === null ? { ...counted, count: data.length, is_more: false } : counted),
    table(heading, list.columns(organisation_id, nameOf), data),
    h('p', { class: 'pages' }, all),
  )
}
