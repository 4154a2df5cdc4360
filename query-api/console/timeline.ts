import { h, type View } from './view.ts'
import { z } from 'zod'
import { moment, money, words } from './show.ts'

/** The events of a record, as its timeline in the API has them. */
export const TimelineEntries = z.object({
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
const sentence = (type: string): string => {
  const apart = type.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase()
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
  return name.endsWith('_id') ? null : words(value)
}

const shownDetails = (given: Entry['details']): View => {
  const shown = Object.entries(given).flatMap(([name, value]) => {
    const view = told(name, value)
    return view === null ? [] : [h('span', {}, `${words(name.replace(/_(pence|at)$/, ''))}: `, view)]
  })
  return shown.length > 0 && h('p', { class: 'quiet details' }, shown)
}

/** The newest first. The id of each event is at hand for whoever needs to name it. */
export const timeline = (entries: readonly Entry[]): View =>
  h(
    'ol',
    { class: 'timeline' },
    ...entries
      .toReversed()
      .map(({ event_id, type, actor, occurred_at, details: given }) =>
        h(
          'li',
          { 'data-event': event_id, id: `event-${event_id}` },
          h('p', {}, h('strong', {}, sentence(type)), ' ', h('span', { class: 'quiet' }, whoOf(actor))),
          shownDetails(given),
          h('p', { class: 'quiet small' }, moment(occurred_at), ' · ', h('code', {}, event_id)),
        ),
      ),
  )

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
