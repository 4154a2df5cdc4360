import { z } from 'zod'
import { Direction } from '#domain/custom-integrations/record.ts'
import type { List } from '../list.ts'
import { pageOf } from '../page.ts'
import { badge, link, moment, text } from '../show.ts'
import { connectionChoices, nameOfConnections } from './connection-names.ts'

const Entry = z.object({
  id: z.string(),
  integration_connection_id: z.string(),
  direction: Direction,
  at: z.string(),
  accepted: z.boolean(),
  status: z.number().nullable(),
  reason: z.string(),
  event_type: z.string().nullable(),
  subject_id: z.string().nullable(),
  bytes: z.number().nullable(),
  count: z.number(),
})

/** All that other systems posted to us, and all that we called, with what became of each. */
export const integrationLogs: List<typeof Entry> = {
  title: 'Received and called',
  path: 'integration_logs',
  api: 'integration_logs',
  item: Entry,
  names: nameOfConnections,
  filters: [
    { name: 'integration_connection_id', label: 'Connection', choices: connectionChoices('integration_connections') },
    {
      name: 'direction',
      label: 'Direction',
      choices: [
        ['inbound', 'Received'],
        ['outbound', 'Called'],
      ],
    },
    {
      name: 'accepted',
      label: 'Accepted',
      choices: [
        ['true', 'Yes'],
        ['false', 'No'],
      ],
    },
  ],
  none: 'Nothing came in or went out over an integration yet.',
  columns: (organisation_id, nameOf) => [
    { title: 'When', show: ({ at }) => moment(at) },
    { title: 'Outcome', show: ({ accepted }) => (accepted ? badge('accepted', 'good') : badge('refused', 'bad')) },
    { title: 'Connection', show: ({ integration_connection_id: id }) => nameOf?.(id) ?? id },
    { title: 'Direction', show: ({ direction }) => (direction === 'inbound' ? 'received' : 'called') },
    { title: 'Event', show: ({ event_type }) => text(event_type) },
    { title: 'What followed', show: ({ reason, count }) => (count > 1 ? `${reason} (${count} times)` : reason) },
    { title: 'Answered', show: ({ status }) => (status === null ? '–' : String(status)), isNumber: true },
    {
      title: 'Delivery',
      show: ({ direction, subject_id }) =>
        direction === 'outbound' && subject_id !== null
          ? link(pageOf(organisation_id, `deliveries/${subject_id}`), 'With its attempts')
          : '–',
    },
  ],
}
