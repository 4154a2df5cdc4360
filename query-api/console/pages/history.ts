import { z } from 'zod'
import type { Page } from '../page.ts'
import { pageOf } from '../page.ts'
import { empty, label, link, moment, section, table, words } from '../show.ts'
import { h, type View } from '../view.ts'

const Entries = z.object({
  data: z.array(
    z.object({
      event_id: z.string(),
      sentence: z.string(),
      who: z.object({ as: z.string(), name: z.string().nullable(), said_to_be: z.string().nullable() }),
      request_id: z.string(),
      occurred_at: z.string(),
      recorded_at: z.string(),
      position: z.string(),
      basis: z.array(z.object({ name: z.string(), value: z.unknown() })),
      changes: z
        .array(z.object({ path: z.string(), before: z.unknown(), after: z.unknown(), masked: z.boolean() }))
        .nullable(),
    }),
  ),
  next_cursor: z.string().nullable(),
})
type Entry = z.infer<typeof Entries>['data'][number]

const Found = z.object({
  data: z.array(
    z.object({
      event_id: z.string(),
      type: z.string(),
      record: z.object({ type: z.string(), id: z.string() }),
      actor: z.object({ type: z.string(), id: z.string().nullable() }),
      occurred_at: z.string(),
    }),
  ),
  next_cursor: z.string().nullable(),
})

/** The records that are looked up by name. Any other is reached by its address. */
const types = [
  'application',
  'quote',
  'policy',
  'premium',
  'claim',
  'lead',
  'customer',
  'ingest',
  'user',
  'organisation',
]

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

const search = (organisation_id: string): View =>
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
        types.map((type) => h('option', { value: type }, label(type))),
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

/** The events of an organisation, the latest first, and the way to the history of one record. */
export const historyPage: Page = {
  address: '/console/organisations/:organisation_id/history',
  show: async ({ organisation, url, read }) => {
    const organisation_id = organisation?.id ?? ''
    const [type, id] = [url.searchParams.get('type') ?? '', url.searchParams.get('id')?.trim().toLowerCase() ?? '']
    if (/^[a-z_]{1,50}$/.test(type) && uuid.test(id)) return recordHistory(organisation_id, type, id, url, read)
    const cursor = url.searchParams.get('cursor')
    const { data, next_cursor } = await read(
      `/audit/v1/organisations/${organisation_id}/events?limit=25${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
      Found,
    )
    return {
      title: 'History',
      main: [
        search(organisation_id),
        data.length === 0
          ? empty('Nothing has happened yet.')
          : table(
              'Events',
              [
                { title: 'What', show: ({ type: happened }) => happened },
                {
                  title: 'Record',
                  show: ({ record }) =>
                    link(
                      `${pageOf(organisation_id, 'history')}?type=${record.type}&id=${record.id}`,
                      words(record.type),
                    ),
                },
                { title: 'By', show: ({ actor }) => words(actor.type) },
                { title: 'When', show: ({ occurred_at }) => moment(occurred_at) },
              ],
              data,
            ),
        next_cursor !== null &&
          h(
            'nav',
            { 'aria-label': 'Pages', class: 'pages' },
            link(`${url.pathname}?cursor=${encodeURIComponent(next_cursor)}`, 'Older events'),
          ),
      ],
    }
  },
}

const shownValue = ({ masked }: { readonly masked: boolean }, value: unknown): string => {
  if (masked) return 'not shown'
  if (value === null || value === undefined) return '–'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const changesOf = ({ changes }: Entry): View =>
  changes !== null &&
  changes.length > 0 &&
  h(
    'details',
    {},
    h('summary', {}, changes.length === 1 ? 'One value changed' : `${changes.length} values changed`),
    table(
      'Values before and after',
      [
        { title: 'Value', show: ({ path }) => h('code', {}, path) },
        { title: 'Before', show: (change) => shownValue(change, change.before) },
        { title: 'After', show: (change) => shownValue(change, change.after) },
      ],
      changes,
    ),
  )

const whoOf = ({ who: { as, name, said_to_be } }: Entry): string =>
  [words(as), name, said_to_be !== null && `said to be ${said_to_be}`].filter(Boolean).join(' · ')

const entryOf = (entry: Entry, page: string | undefined): View =>
  h(
    'li',
    { 'data-event': entry.event_id, id: `event-${entry.event_id}` },
    h('p', {}, h('strong', {}, entry.sentence)),
    h('p', { class: 'quiet' }, whoOf(entry)),
    entry.basis.map(({ name, value }) =>
      h('p', {}, `${label(name)}: ${typeof value === 'string' ? value : JSON.stringify(value)}`),
    ),
    changesOf(entry),
    page !== undefined && h('p', {}, link(`${page}?position=${encodeURIComponent(entry.position)}`, 'The record then')),
    h(
      'p',
      { class: 'quiet small' },
      moment(entry.occurred_at),
      ' · ',
      h('code', {}, entry.event_id),
      ' · request ',
      h('code', {}, entry.request_id),
    ),
  )

/** The pages that show a record as of a moment. */
const pages: Readonly<Record<string, string>> = {
  application: 'applications',
  lead: 'leads',
  policy: 'policies',
  ingest: 'ingests',
}

const recordHistory = async (
  organisation_id: string,
  type: string,
  id: string,
  url: URL,
  read: Parameters<Page['show']>[0]['read'],
) => {
  const cursor = url.searchParams.get('cursor')
  const { data, next_cursor } = await read(
    `/audit/v1/organisations/${organisation_id}/records/${type}/${id}/history?limit=50${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
    Entries,
  )
  const path = pages[type]
  const page = path === undefined ? undefined : pageOf(organisation_id, `${path}/${id}`)
  const next = new URL(url)
  next.searchParams.set('cursor', next_cursor ?? '')
  return {
    title: `History of ${/^[aeio]/.test(type) ? 'an' : 'a'} ${words(type)}`,
    main: [
      h('p', {}, h('code', {}, id)),
      section(
        'From the beginning',
        h(
          'ol',
          { class: 'timeline' },
          data.map((entry) => entryOf(entry, page)),
        ),
      ),
      next_cursor !== null &&
        h('nav', { 'aria-label': 'Pages', class: 'pages' }, link(`${next.pathname}${next.search}`, 'What came after')),
    ],
  }
}
