import { z } from 'zod'
import { instantIn } from '#domain/time-zone.ts'
import type { Read } from './read.ts'
import { link, moment as shownMoment, zone } from './show.ts'
import { h, type View } from './view.ts'

/** A moment of the past: a time, up to which was recorded what is shown, or the position of an event. */
export type Past = { readonly known_at: string } | { readonly position: string }

/** As a field of a form has a time: `2026-11-27T14:03`, on the clocks of London. */
const local = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d)?$/

/** The moment that an address asks for; undefined: now. */
export const pastIn = ({ searchParams }: URL): Past | undefined => {
  const position = searchParams.get('position') ?? ''
  if (position !== '') return { position }
  const known_at = searchParams.get('known_at') ?? ''
  if (known_at === '') return undefined
  const [, date, time] = local.exec(known_at) ?? []
  return { known_at: date !== undefined && time !== undefined ? instantIn(zone, date, time) : known_at }
}

/** Reads each address as its answer was at that moment. */
export const readPast =
  (read: Read, organisation_id: string, past: Past): Read =>
  async (address, schema) => {
    const asked = new URLSearchParams({ address, ...past })
    const AsOf = z.object({ data: z.object({ answer: z.unknown() }) })
    const { data } = await read(`/audit/v1/organisations/${organisation_id}/as_of?${asked.toString()}`, AsOf)
    return schema.parse(data.answer)
  }

/** Asks for another moment of the same record; for auditors, who alone may. */
export const pastForm = (me: { readonly roles: readonly string[] }, url: URL, past: Past | undefined): View => {
  if (!me.roles.includes('auditor')) return null
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
  const form = h(
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
        value: url.searchParams.get('known_at') ?? '',
      }),
    ),
    h('button', { type: 'submit' }, 'Show it then'),
  )
  return [said, form]
}
