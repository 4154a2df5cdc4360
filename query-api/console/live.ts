import { z } from 'zod'
import { isOpenTo, workRoles } from './areas.ts'
import { apiOf, type Asked } from './page.ts'
import { h, type View } from './view.ts'

const Waiting = z.object({
  work: z.string(),
  count: z.int(),
  is_more: z.boolean(),
  first_id: z.string().nullable(),
})

/** One kind of what waits, as it was counted at a moment. */
export type Waiting = z.infer<typeof Waiting> & { readonly read_at: string }

/** The address of what waits, which pages also follow in the browser. */
export const workAddress = (organisation_id: string): string => apiOf(organisation_id, 'work')

/** Reads what waits for whoever is signed in, by their roles. */
export const readWork = async ({
  organisation,
  now,
}: Pick<Asked, 'organisation' | 'now'>): Promise<readonly Waiting[]> => {
  const Work = z.object({ data: z.object({ waiting: z.array(Waiting), read_at: z.string() }) })
  const { waiting, read_at } = (await now(workAddress(organisation?.id ?? ''), Work)).data
  return waiting.map((each) => ({ ...each, read_at }))
}

/** Of what waits, that which the first page of a list shows: narrowed down to a state, or not at all. */
export const shownWork = async (
  work: Readonly<Record<string, string | null>> = {},
  request: Pick<Asked, 'organisation' | 'now' | 'me' | 'url'>,
): Promise<readonly Waiting[]> => {
  const {
    state,
    status = state,
    ...others
  } = Object.fromEntries([...request.url.searchParams].filter(([, value]) => value !== ''))
  const shown = Object.keys(work).filter((name) => status === undefined || work[name] === status)
  if (shown.length === 0 || Object.keys(others).length > 0 || !isOpenTo({ roles: workRoles }, request.me)) return []
  return (await readWork(request)).filter((waiting) => shown.includes(waiting.work))
}

/** A number of what waits, with its word, which `browser/live.ts` keeps true. Nothing is said while nothing waits. */
export const counted = (work: readonly string[], word: string, waiting?: Waiting): View => {
  const number = waiting && (waiting.is_more ? `${waiting.count}+` : String(waiting.count))
  return h(
    'span',
    { ...(!waiting && { class: 'count' }), hidden: (waiting?.count ?? 0) === 0 },
    h('span', { 'data-count': work.join(' '), ...(waiting && { 'data-read': waiting.read_at }) }, number),
    ` ${word}`,
  )
}

/** The place where `browser/live.ts` says that a list is no longer as it was when the page was made. */
const changed = ({ work, count, first_id, read_at }: Waiting): View =>
  h('span', {
    role: 'status',
    'data-work': work,
    'data-first': first_id ?? '',
    'data-counted': String(count),
    'data-read': read_at,
  })

/** The number of one kind of what waits. */
export const tally = (waiting: Waiting): View =>
  h('p', { class: 'tally' }, counted([waiting.work], 'in all. ', waiting), changed(waiting))

/** The same for a list that shows these of what waits, and may show more. */
export const changes = (waiting: readonly Waiting[]): View =>
  waiting.length > 0 && h('p', { class: 'tally' }, waiting.map(changed))
