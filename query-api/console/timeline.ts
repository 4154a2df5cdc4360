import { h, type View } from './view.ts'
import { z } from 'zod'
import { moment, words } from './show.ts'

/** What happened to a record, as lists of the API tell it: some with what is stored, some with what receivers get. */
export const TimelineEntries = z.object({
  data: z.array(
    z.object({
      event_id: z.string(),
      type: z.string(),
      actor: z.object({ type: z.string(), id: z.string().nullable() }),
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

const isShort = (value: unknown): value is string | number | boolean =>
  typeof value === 'number' || typeof value === 'boolean' || (typeof value === 'string' && value.length <= 120)

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

/** The values that say something to people: no ids, no whole documents. */
const told = (details: Entry['details']): View => {
  const shown = Object.entries(details).filter(([, value]) => isShort(value) && !uuid.test(String(value)))
  if (shown.length === 0) return null
  return h('p', { class: 'quiet' }, shown.map(([name, value]) => `${words(name)}: ${words(String(value))}`).join(' · '))
}

/** The newest first. The id of each event is at hand for whoever needs to name it. */
export const timeline = (entries: readonly Entry[], names: ReadonlyMap<string, string>): View =>
  h(
    'ol',
    { class: 'timeline' },
    ...entries
      .toReversed()
      .map(({ event_id, type, actor, occurred_at, details }) =>
        h(
          'li',
          { 'data-event': event_id, id: `event-${event_id}` },
          h('p', {}, h('strong', {}, sentence(type)), ' ', h('span', { class: 'quiet' }, whoOf(actor, names))),
          told(details),
          h('p', { class: 'quiet small' }, moment(occurred_at), ' · ', h('code', {}, event_id)),
        ),
      ),
  )

const whoOf = ({ type, id }: Entry['actor'], names: ReadonlyMap<string, string>): string => {
  if (type === 'user') return `by ${names.get(id ?? '') ?? `person ${(id ?? '').slice(0, 8)}`}`
  if (type === 'operator') return `by a program with the key ${id ?? ''}`
  if (type === 'api') return 'by an API application'
  return 'by the service'
}
