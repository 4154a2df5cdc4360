import { z } from 'zod'
import { askedOf, idAsName, listPage, userNames, type List } from '../list.ts'
import { auditOf, pageOf, type Asked, type Page } from '../page.ts'
import { historyOf, recordLink } from '../records.ts'
import { label, link, moment, section, words, type Choice, type Filter } from '../show.ts'
import { sentence } from '../timeline.ts'
import { h, type View } from '../view.ts'

const AuditEvent = z.object({
  event_id: z.string(),
  type: z.string(),
  record: z.object({ type: z.string(), id: z.string() }),
  actor: z.object({ type: z.string(), id: z.string().nullable() }),
  request_id: z.string(),
  occurred_at: z.string(),
})

/** The parts of the history, each at its address. */
export const historyParts = (organisation_id: string, url: URL): View => {
  const part = (path: string, title: string) => {
    const href = pageOf(organisation_id, path)
    return h('li', {}, h('a', { href, ...(url.pathname === href && { 'aria-current': 'page' as const }) }, title))
  }
  return h(
    'nav',
    { 'aria-label': 'History', class: 'parts' },
    h(
      'ul',
      {},
      part('history', 'What happened'),
      part('history/accesses', 'Who looked'),
      part('history/log', 'Has anything been altered'),
    ),
  )
}

/** The records that are looked up by name. Any other is reached from its events. */
const types: readonly Choice[] = [
  'application',
  'quote',
  'policy',
  'premium',
  'claim',
  'complaint',
  'payment',
  'lead',
  'customer',
  'ingest',
  'user',
  'organisation',
].map((type) => [type, label(type)])

const recordForm = (organisation_id: string): View =>
  h(
    'form',
    { class: 'filters', method: 'get', action: pageOf(organisation_id, 'history') },
    h(
      'label',
      {},
      h('span', {}, 'Record'),
      h(
        'select',
        { name: 'type' },
        types.map(([type, shown]) => h('option', { value: type }, shown)),
      ),
    ),
    h(
      'label',
      {},
      h('span', {}, 'Its id'),
      h('input', { name: 'id', type: 'text', required: true, pattern: '[0-9a-fA-F-]{36}' }),
    ),
    h('button', { type: 'submit' }, 'Show its history'),
  )

const eventFilters: readonly Filter[] = [
  { name: 'recorded_since', label: 'From', isMoment: true },
  { name: 'recorded_until', label: 'Before', isMoment: true },
  { name: 'person_id', label: 'About the person (id)' },
  {
    name: 'actor_type',
    label: 'By',
    choices: [
      ['user', 'a user'],
      ['operator', 'a program’s key'],
      ['api', 'an API application'],
      ['system', 'the service'],
    ],
  },
  { name: 'actor_id', label: 'By whom (id)' },
  { name: 'kind', label: 'What, as PolicyCancelled' },
  { name: 'request_id', label: 'By the request (id)' },
  { name: 'record', label: 'To what, as policy-…' },
  { name: 'occurred_since', label: 'Happened from', isMoment: true },
  { name: 'occurred_until', label: 'Happened before', isMoment: true },
]

/** A file of an address of the audit API. Without script it is the first part, with it the whole. */
export const fileLink = (address: string, name: string, title: string): View =>
  h('a', { href: address, download: name, 'data-file': '' }, title)

const files = ({ organisation, url }: Pick<Asked, 'organisation' | 'url'>): View => {
  const organisation_id = organisation?.id ?? ''
  const sent = askedOf(url, eventFilters)
  sent.delete('cursor')
  sent.set('limit', '200')
  const person_id = sent.get('person_id')
  const held = auditOf(organisation_id, `people/${encodeURIComponent(person_id ?? '')}/export`)
  return section(
    'Files',
    h(
      'p',
      {},
      fileLink(`${auditOf(organisation_id, 'events')}?${sent.toString()}`, 'events.json', 'These events'),
      person_id !== null && [
        ' · ',
        fileLink(`${held}?limit=200`, 'person.json', 'All that is held on the person'),
        ' · ',
        h('a', { href: `${held}/pdf?limit=200`, download: 'person.pdf' }, 'The same to be read (PDF)'),
      ],
    ),
    h(
      'p',
      { class: 'quiet small' },
      'All that fits, as the audit API answers it, with personal values empty; that of a person with their own. ',
      'Without script a file is the first 200 events. Files with proofs are made by ',
      h('code', {}, 'npm run audit -- export'),
      '.',
    ),
  )
}

export const events: List<typeof AuditEvent> = {
  title: 'History',
  path: 'history',
  api: 'events',
  isAudit: true,
  names: userNames,
  item: AuditEvent,
  filters: eventFilters,
  none: 'Nothing has happened yet.',
  above: ({ organisation, url }) => [historyParts(organisation?.id ?? '', url), recordForm(organisation?.id ?? '')],
  below: files,
  columns: (organisation_id, nameOf = idAsName) => [
    {
      title: 'What',
      show: ({ event_id, type }) => link(pageOf(organisation_id, `history/events/${event_id}`), sentence(type)),
    },
    { title: 'To', show: ({ record }) => recordLink(organisation_id, record) },
    {
      title: 'By',
      show: ({ actor: { type, id } }) => (type === 'user' && id !== null ? nameOf(id) : `${words(type)} ${id ?? ''}`),
    },
    {
      title: 'Request',
      show: ({ request_id }) => link(pageOf(organisation_id, `history/requests/${request_id}`), 'what it caused'),
    },
    { title: 'When', show: ({ occurred_at }) => moment(occurred_at) },
  ],
}

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

const eventsPage = listPage(events)

/** The events of an organisation, the latest first, and the way to the history of one record. */
export const historyPage: Page = {
  ...eventsPage,
  show: async (asked) => {
    const { organisation, url } = asked
    const [type, id] = [url.searchParams.get('type') ?? '', url.searchParams.get('id')?.trim().toLowerCase() ?? '']
    if (/^[a-z_]{1,50}$/.test(type) && uuid.test(id)) return { opens: historyOf(organisation?.id ?? '', { type, id }) }
    return eventsPage.show(asked)
  },
}
