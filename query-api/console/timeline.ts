import { h, type View } from './view.ts'
import { z } from 'zod'
import type { Asked } from './page.ts'
import { empty, link, moment, money, section, value as shownValue, words } from './show.ts'

/** The events of a record, as its timeline in the API has them. */
const TimelineEntries = z.object({
  data: z.array(
    z.object({
      event_id: z.string(),
      type: z.string(),
      actor: z.object({ type: z.string(), id: z.string().nullable(), name: z.string().nullable() }),
      occurred_at: z.string(),
      details: z.record(z.string(), z.unknown()),
    }),
  ),
  next_cursor: z.string().nullable(),
})

type Entry = z.infer<typeof TimelineEntries>['data'][number]

/** `LeadStageChanged` as people write it. */
export const sentence = (type: string): string => {
  const apart = words(type.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase())
  return apart.replace(/^./, (first) => first.toUpperCase())
}

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/
const longest = 120

/** A value that says something to people; ids and whole documents do not. */
const told = (name: string, value: unknown): View => {
  if (typeof value === 'number') return name.endsWith('_pence') ? money(value) : String(value)
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value !== 'string' || value.length > longest || uuid.test(value)) return null
  if (name.endsWith('_at')) return moment(value)
  return name.endsWith('_id') || /^[\da-f]{64}$/.test(value) ? null : shownValue(value)
}

const shownDetails = (given: Entry['details']): View => {
  const shown = Object.entries(given).flatMap(([name, value]) => {
    const view = told(name, value)
    return view === null ? [] : [h('span', {}, `${words(name.replace(/_(pence|at)$/, ''))}: `, view)]
  })
  return shown.length > 0 && h('p', { class: 'quiet details' }, shown)
}

const shownEntry = ({ event_id, type, actor, occurred_at, details }: Entry): View =>
  h(
    'li',
    { 'data-event': event_id, id: `event-${event_id}` },
    h('p', {}, h('strong', {}, sentence(type)), ' ', h('span', { class: 'quiet' }, whoOf(actor))),
    shownDetails(details),
    h('p', { class: 'quiet small' }, moment(occurred_at), ' · ', h('code', {}, event_id)),
  )

const pageSize = 50

/** The events of a record, the newest first, and the way to those before. The id of each is at hand for whoever needs to name it. */
export const happened = async (
  { now, url }: Pick<Asked, 'now' | 'url'>,
  address: string,
  parameters: Readonly<Record<string, string>> = {},
): Promise<View> => {
  const before = url.searchParams.get('before') ?? ''
  const sent = {
    ...parameters,
    order: 'newest_first',
    limit: String(pageSize),
    ...(before !== '' && { cursor: before }),
  }
  const { data, next_cursor } = await now(`${address}?${new URLSearchParams(sent).toString()}`, TimelineEntries)
  const earlier = new URL(url)
  earlier.searchParams.set('before', next_cursor ?? '')
  return section(
    'What happened',
    data.length === 0 ? empty('Nothing yet.') : h('ol', { class: 'timeline' }, data.map(shownEntry)),
    next_cursor !== null &&
      h('p', { class: 'pages' }, link(`${earlier.pathname}${earlier.search}`, 'What happened before')),
  )
}

const whoOf = ({ type, id, name }: Entry['actor']): string => {
  switch (type) {
    case 'user':
      return `by ${name ?? 'a colleague'}`
    case 'operator':
      return `by a program with the key ${id ?? ''}`
    case 'api':
      return 'by an API application'
    default:
      return 'by the service'
  }
}
