import { h, type View } from './view.ts'
import { z } from 'zod'
import { act, type Act } from './act.ts'
import { apiOf, asked, pageOf, type Asked, type Page } from './page.ts'
import { empty, filters, link, more, section, table, type Choice, type Column, type Filter } from './show.ts'

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
  readonly item: Item
  /** A feed names a place to go on from also where there is no more: a short page is its last. */
  readonly isFeed?: true
  /** Parameters that are always sent. */
  readonly always?: Readonly<Record<string, string>>
  readonly columns: (organisation_id: string) => readonly Column<z.output<Item>>[]
  readonly filters: readonly ListFilter[]
  /** The acts that whoever looks may do about the list as a whole. */
  readonly acts?: (asked: Asked) => readonly Act[]
  /** Said where there is nothing, and what to do then. */
  readonly none: string
}

const pageSize = 25
const inWork = 8

const readRows = async <Item extends z.ZodType>(
  { api, item, always = {}, isFeed }: List<Item>,
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
  const Rows = z.object({ data: z.array(item), next_cursor: z.string().nullable().default(null) })
  const { data, next_cursor } = await read(`${isOwn ? apiOf(organisation_id, api) : api}?${sent.toString()}`, Rows)
  return { data, next_cursor: isFeed && data.length < limit ? null : next_cursor }
}

/** The page of a list. */
export const listPage = <Item extends z.ZodType>(list: List<Item>): Page => ({
  address: `/console/organisations/:organisation_id/${list.path}`,
  show: async (request) => {
    const { url, organisation } = request
    const names = list.filters.map(({ name }) => name)
    const { data, next_cursor } = await readRows(list, request, asked(url, names), pageSize)
    const offered = await Promise.all(list.filters.map(async (filter) => offeredTo(request, filter)))
    const isNarrowed = names.some((name) => (url.searchParams.get(name) ?? '') !== '')
    return {
      title: list.title,
      main: [
        list.acts?.(request).map(act),
        offered.length > 0 && filters(url, offered),
        data.length === 0
          ? empty(isNarrowed ? 'Nothing fits. ' : list.none, isNarrowed && link(url.pathname, 'Show all'))
          : table(list.title, list.columns(organisation?.id ?? ''), data),
        more(url, next_cursor),
      ],
    }
  },
})

/** The first of a list that wait for somebody, with the way to all of them. */
export const waiting = async <Item extends z.ZodType>(
  title: string,
  list: List<Item>,
  request: Asked,
  narrowed: Readonly<Record<string, string>>,
): Promise<View> => {
  const parameters = new URLSearchParams(narrowed)
  const { data, next_cursor } = await readRows(list, request, parameters, inWork)
  const organisation_id = request.organisation?.id ?? ''
  const all = link(
    pageOf(organisation_id, list.path) + (parameters.size === 0 ? '' : `?${parameters.toString()}`),
    next_cursor === null ? 'Open the list' : 'All of them',
  )
  return section(
    title,
    data.length === 0 ? empty('Nothing waits here.') : table(title, list.columns(organisation_id), data),
    data.length > 0 && h('p', { class: 'pages' }, all),
  )
}
