import { z } from 'zod'
import { auditOf, type Asked } from './page.ts'
import type { Past } from './past.ts'
import { addressWith, link, moment as shownMoment, saidMoment, zone } from './show.ts'
import { sentence } from './timeline.ts'
import { h, type View } from './view.ts'

const Stop = z.object({ event_id: z.string(), position: z.string(), type: z.string(), recorded_at: z.string() })
export type Stop = z.infer<typeof Stop>

const Stops = z.object({ data: z.array(Stop), next_cursor: z.string().nullable() })

const mostStops = 200

/** The events of a record, the latest 200, the oldest of them first. `record`: its type and its id, `policy-…`. */
export const stopsOf = async (
  { now, organisation }: Pick<Asked, 'now' | 'organisation'>,
  record: string,
): Promise<{ readonly stops: readonly Stop[]; readonly isCut: boolean }> => {
  const sent = new URLSearchParams({ record, limit: String(mostStops) })
  const { data, next_cursor } = await now(`${auditOf(organisation?.id ?? '', 'events')}?${sent.toString()}`, Stops)
  return { stops: data.toReversed(), isCut: next_cursor !== null }
}

export const stopSays = ({ type, recorded_at }: Stop): string => `${saidMoment(recorded_at)} · ${sentence(type)}`

/** The stop that a moment is at; as many as there are: now. */
const stopAt = (stops: readonly Stop[], past: Past | undefined): number => {
  if (!past) return stops.length
  return stops.findLastIndex((stop) =>
    'position' in past ? stop.position <= past.position : stop.recorded_at <= past.known_at,
  )
}

/** One slider over all events of a record, and the same as links: each stop is an address. */
const slider = (url: URL, stops: readonly Stop[], isCut: boolean, past: Past | undefined): View => {
  const at = (stop: Stop | undefined) =>
    `${addressWith(url, { known_at: undefined, cursor: undefined, before: undefined, position: stop?.position })}#moment`
  const place = stopAt(stops, past)
  const stop = stops[place]
  const shown = stop ? stopSays(stop) : place < 0 ? 'before these events' : 'now'
  const step = (to: number, title: string) =>
    to >= 0 && to <= stops.length && to !== place && link(at(stops[to]), title)
  return h(
    'div',
    { class: 'stops' },
    h(
      'p',
      { class: 'scripted' },
      h('label', { for: 'moment' }, 'As it was after'),
      h('input', {
        id: 'moment',
        type: 'range',
        min: '0',
        max: String(stops.length),
        value: String(Math.max(place, 0)),
        'aria-valuetext': shown,
        'data-stops': '',
      }),
      h('output', { for: ['moment'] }, shown),
    ),
    h('p', { class: 'steps' }, step(place - 1, 'One event earlier'), ' ', step(place + 1, 'One event later')),
    h(
      'details',
      {},
      h('summary', {}, isCut ? `The latest ${stops.length} events` : `All ${stops.length} events`),
      h(
        'ol',
        { class: 'moments' },
        stops.map((each, index) =>
          h('li', {}, h('a', { href: at(each), ...(index === place && { 'aria-current': 'true' }) }, stopSays(each))),
        ),
        h('li', {}, h('a', { href: at(undefined), ...(!past && { 'aria-current': 'true' }) }, 'now')),
      ),
    ),
  )
}

/** A time as a field of a form has it, on the clocks of London. */
const localTime = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'short', timeZone: zone })

const form = ({ url, at }: Pick<Asked, 'url' | 'at'>): View =>
  h(
    'form',
    { class: 'filters', method: 'get', action: url.pathname },
    h(
      'label',
      {},
      h('span', {}, 'As it was on'),
      h('input', {
        name: 'known_at',
        type: 'datetime-local',
        required: true,
        value: url.searchParams.get('known_at') ?? localTime.format(new Date(at)).replace(' ', 'T'),
        'aria-describedby': 'now',
      }),
    ),
    h('button', { type: 'submit' }, 'Show it then'),
    h('p', { class: 'hint', id: 'now' }, `It is ${saidMoment(at)} now. Choose an earlier time.`),
  )

/** Asks for another moment of the same record; for auditors, who alone may. */
export const pastForm = async (
  asked: Pick<Asked, 'at' | 'me' | 'now' | 'organisation' | 'past' | 'url'>,
  record: string,
): Promise<View> => {
  const { me, past, url } = asked
  if (!me.roles.includes('auditor')) return null
  const { stops, isCut } = await stopsOf(asked, record)
  const said =
    past &&
    h(
      'p',
      { class: 'then' },
      'As it was ',
      'known_at' in past ? ['on ', shownMoment(past.known_at)] : ['after the event at ', h('code', {}, past.position)],
      '. ',
      link(url.pathname, 'Show it now'),
    )
  return [said, form(asked), stops.length > 0 && slider(url, stops, isCut, past)]
}
