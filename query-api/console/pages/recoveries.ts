import { z } from 'zod'
import { EndedState } from '#domain/deliveries/events.ts'
import { act, choicesOf } from '../act.ts'
import { listPage, type List } from '../list.ts'
import { apiOf, type Page } from '../page.ts'
import { badge, moment, section, words } from '../show.ts'
import { connectionChoices, nameOfConnections } from './connection-names.ts'

const Recovery = z.object({
  id: z.string(),
  requested_at: z.string(),
  connection_id: z.string().nullable(),
  delivery_id: z.string().nullable(),
  states: z.array(z.string()),
  since: z.string(),
  until: z.string(),
  resent: z.number(),
  skipped: z.number(),
  finished_at: z.string().nullable(),
})

const recoveries: List<typeof Recovery> = {
  title: 'Sent again',
  path: 'delivery_recoveries',
  api: '/admin/v1/delivery_recoveries',
  item: Recovery,
  names: nameOfConnections,
  filters: [],
  none: 'Nothing was sent again yet.',
  columns: (_organisation_id, nameOf) => [
    { title: 'Asked for', show: ({ requested_at }) => moment(requested_at) },
    {
      title: 'State',
      show: ({ finished_at }) => (finished_at === null ? badge('goes on', 'wait') : badge('done', 'good')),
    },
    {
      title: 'What',
      show: ({ connection_id, delivery_id }) => {
        if (delivery_id !== null) return 'one delivery'
        return connection_id === null ? 'every connection' : (nameOf?.(connection_id) ?? connection_id)
      },
    },
    { title: 'That had', show: ({ states }) => states.map(words).join(', ') },
    { title: 'From', show: ({ since }) => moment(since) },
    { title: 'To', show: ({ until }) => moment(until) },
    { title: 'Sent again', show: ({ resent }) => String(resent), isNumber: true },
    { title: 'Left out', show: ({ skipped }) => String(skipped), isNumber: true },
  ],
}

const list = listPage(recoveries)

/** All that was asked to be sent again, how far it is, and the way to ask for more: it is counted first. */
export const recoveriesPage: Page = {
  address: list.address,
  show: async (asked) => {
    const [shown, connections] = await Promise.all([list.show(asked), connectionChoices()(asked)])
    if ('opens' in shown || !asked.me.roles.some((role) => role === 'owner' || role === 'operator')) return shown
    const recovery = act({
      title: 'Send deliveries of a period again',
      method: 'POST',
      address: apiOf(asked.organisation?.id ?? '', 'delivery_recoveries'),
      isKeyed: true,
      isCounted: true,
      ask: 'Each goes out once more, with the same Idempotency-Key and body.',
      fields: [
        { name: 'since', label: 'Of events from', kind: 'instant', isRequired: true },
        { name: 'until', label: 'To', kind: 'instant', hint: 'Left empty: up to now.' },
        { name: 'connection_id', label: 'Over', kind: 'choice', choices: connections },
        {
          name: 'states',
          label: 'Those that',
          kind: 'several',
          choices: choicesOf(EndedState.options),
          values: ['failed'],
        },
      ],
    })
    return { title: shown.title, main: [section('What next', recovery), shown.main] }
  },
}
