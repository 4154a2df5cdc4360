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
type Waiting = z.infer<typeof Waiting>

/** The address of what waits, which pages also follow in the browser. */
export const workAddress = (organisation_id: string): string => apiOf(organisation_id, 'work')

/** Reads what waits for whoever is signed in, by their roles. */
export const readWork = async ({ organisation, now }: Pick<Asked, 'organisation' | 'now'>) => {
  const Work = z.object({ data: z.object({ waiting: z.array(Waiting) }) })
  return (await now(workAddress(organisation?.id ?? ''), Work)).data.waiting
}

/** Of what waits, that which the first page of a list shows: narrowed down to a state, or not at all. */
export const shownWork = async (
  work: Readonly<Record<string, string | null>> = {},
  request: Pick<Asked, 'organisation' | 'now' | 'me' | 'url'>,
): Promise<readonly Waiting[]> => {
  const { status, ...others } = Object.fromEntries([...request.url.searchParams].filter(([, value]) => value !== ''))
  const shown = Object.keys(work).filter((name) => status === undefined || work[name] === status)
  if (shown.length === 0 || Object.keys(others).length > 0 || !isOpenTo({ roles: workRoles }, request.me)) return []
  return (await readWork(request)).filter((waiting) => shown.includes(waiting.work))
}

/** The place where `browser/live.ts` says that a list is no longer as it was when the page was made. */
const changed = ({ work, count, first_id }: Waiting): View =>
  h('span', { role: 'status', 'data-work': work, 'data-first': first_id ?? '', 'data-counted': String(count) })

/** The number of one kind of what waits, which stays true while the page is open. */
export const tally = (waiting: Waiting): View =>
  h(
    'p',
    { class: 'tally' },
    h('span', { 'data-count': waiting.work }, waiting.is_more ? `${waiting.count}+` : String(waiting.count)),
    ' in all. ',
    changed(waiting),
  )

/** The same for a list that shows these of what waits, and may show more. */
export const changes = (waiting: readonly Waiting[]): View =>
  waiting.length > 0 && h('p', { class: 'tally' }, waiting.map(changed))
