import { z } from 'zod'
import { changeTable, shownValue } from '../change-table.ts'
import { auditOf, pageOf, type Asked, type Page } from '../page.ts'
import { pastForm, stopSays, stopsOf, type Stop } from '../moments.ts'
import { instantOf } from '../past.ts'
import { asOfAddress, historyOf, ownPageOf, thenPageOf, type RecordName } from '../records.ts'
import { addressWith, empty, facts, label, link, moment, more, section, table, words } from '../show.ts'
import { h, type View } from '../view.ts'
import { fileLink, historyParts } from './history.ts'

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
      is_cut: z.boolean(),
    }),
  ),
  next_cursor: z.string().nullable(),
})
type Entry = z.infer<typeof Entries>['data'][number]

const changesOf = ({ changes, is_cut }: Entry): View =>
  changes !== null &&
  changes.length > 0 &&
  h(
    'details',
    {},
    h('summary', {}, changes.length === 1 ? 'One value changed' : `${changes.length} values changed`),
    changeTable(changes),
    is_cut && h('p', { class: 'quiet' }, 'It changed more than is shown.'),
  )

const whoOf = ({ who: { as, name, said_to_be } }: Entry): string =>
  [words(as), name, said_to_be !== null && `said to be ${said_to_be}`].filter(Boolean).join(' · ')

const entryOf = (organisation_id: string, record: RecordName, entry: Entry): View => {
  const { event_id, request_id, position } = entry
  const then = thenPageOf(organisation_id, record)
  const since = new URLSearchParams({ from_position: position }).toString()
  return h(
    'li',
    { 'data-event': event_id, id: `event-${event_id}` },
    h('p', {}, h('strong', {}, entry.sentence)),
    h('p', { class: 'quiet' }, whoOf(entry)),
    entry.basis.map(({ name, value }) =>
      h('p', {}, `${label(name)}: ${typeof value === 'string' ? value : JSON.stringify(value)}`),
    ),
    changesOf(entry),
    h(
      'p',
      {},
      then !== undefined && [
        link(`${then}?position=${encodeURIComponent(position)}#moment`, 'The record then'),
        ' · ',
        link(`${historyOf(organisation_id, record)}/difference?${since}`, 'What differs since'),
        ' · ',
      ],
      link(pageOf(organisation_id, `history/requests/${request_id}`), 'All that its request caused'),
    ),
    h(
      'p',
      { class: 'quiet small' },
      moment(entry.occurred_at),
      ' · ',
      link(pageOf(organisation_id, `history/events/${event_id}`), h('code', {}, event_id)),
      ' · request ',
      h('code', {}, request_id),
    ),
  )
}

const recordIn = ({ path }: Pick<Asked, 'path'>): RecordName => ({ type: path['type'] ?? '', id: path['id'] ?? '' })

const a = (type: string): string => `${/^[aeio]/.test(type) ? 'an' : 'a'} ${words(type)}`

/** The ways from the history of a record: to its page, to two of its moments, to who looked at it, to a file. */
const ways = (organisation_id: string, record: RecordName, isOpened: boolean, url: URL): View => {
  const { type, id } = record
  const page = ownPageOf(organisation_id, record)
  const sent = new URLSearchParams({ limit: '200', ...(isOpened && { personal: 'opened' }) })
  const address = auditOf(organisation_id, `records/${type}/${id}/history`)
  return [
    facts([
      [label(type), page === undefined ? h('code', {}, id) : link(page, h('code', {}, id))],
      ['Who looked', link(`${pageOf(organisation_id, 'history/accesses')}?record_id=${id}`, 'Who was shown it')],
      ...(thenPageOf(organisation_id, record) === undefined
        ? []
        : [
            [
              'Two moments',
              link(`${historyOf(organisation_id, record)}/difference`, 'What differs between them'),
            ] as const,
          ]),
      ['File', fileLink(`${address}?${sent.toString()}`, `${type}-${id}.json`, 'Download this history')],
      [
        'Personal values',
        isOpened
          ? link(addressWith(url, { personal: undefined }), 'Hide them')
          : link(addressWith(url, { personal: 'opened' }), 'Show them'),
      ],
    ]),
  ]
}

/** All that happened to a record, the oldest first, with what each event changed. */
export const recordHistoryPage: Page = {
  address: '/console/organisations/:organisation_id/history/records/:type/:id',
  show: async (asked) => {
    const { organisation, url, now } = asked
    const organisation_id = organisation?.id ?? ''
    const record = recordIn(asked)
    const isOpened = url.searchParams.get('personal') === 'opened'
    const cursor = url.searchParams.get('cursor')
    const sent = new URLSearchParams({
      limit: '50',
      ...(isOpened && { personal: 'opened' }),
      ...(cursor !== null && { cursor }),
    })
    const address = auditOf(organisation_id, `records/${record.type}/${record.id}/history`)
    const { data, next_cursor } = await now(`${address}?${sent.toString()}`, Entries)
    return {
      title: `History of ${a(record.type)}`,
      main: [
        historyParts(organisation_id, url),
        ways(organisation_id, record, isOpened, url),
        section(
          'From the beginning',
          h(
            'ol',
            { class: 'timeline' },
            data.map((entry) => entryOf(organisation_id, record, entry)),
          ),
        ),
        more(url, next_cursor),
      ],
    }
  },
}

const mostValues = 500

/** Each value of an answer with its place in it. */
const valuesOf = (value: unknown, path = ''): readonly (readonly [string, string])[] => {
  if (typeof value !== 'object' || value === null) return [[path, shownValue({ path }, value)]]
  const below = Object.entries(value)
  if (below.length === 0) return [[path, '–']]
  return below.flatMap(([name, part]) => valuesOf(part, path === '' ? name : `${path}.${name}`))
}

/** A record that has no page of its own, as it was at a moment. */
export const recordThenPage: Page = {
  address: '/console/organisations/:organisation_id/history/records/:type/:id/then',
  show: async (asked) => {
    const { organisation, url, read } = asked
    const organisation_id = organisation?.id ?? ''
    const record = recordIn(asked)
    const address = asOfAddress(organisation_id, record)
    if (address === undefined) return { opens: historyOf(organisation_id, record) }
    const [{ data }, moments] = await Promise.all([
      read(
        `${address}${/^.admin.v1.organisations/.test(address) ? '' : `?organisation_id=${organisation_id}`}`,
        Answer,
      ),
      pastForm(asked, `${record.type}-${record.id}`),
    ])
    const values = valuesOf(data)
    return {
      title: label(record.type),
      main: [
        historyParts(organisation_id, url),
        moments,
        facts([['History', link(historyOf(organisation_id, record), h('code', {}, record.id))]]),
        table(
          'Values',
          [
            { title: 'Value', show: ([path]) => h('code', {}, path) },
            { title: 'Then', show: ([, value]) => value },
          ],
          values.slice(0, mostValues),
        ),
        values.length > mostValues && h('p', { class: 'quiet' }, `The first ${mostValues} values are shown.`),
      ],
    }
  },
}

const Answer = z.object({ data: z.unknown() })

const Difference = z.object({
  data: z.object({ changes: z.array(z.object({ path: z.string(), before: z.unknown(), after: z.unknown() })) }),
})

const sides = ['from', 'to'] as const

/** The two moments that are asked for: a time that was filled in goes before an event that was chosen. */
const momentsIn = ({ searchParams }: URL): URLSearchParams => {
  const sent = new URLSearchParams()
  for (const side of sides) {
    const known_at = searchParams.get(`${side}_known_at`) ?? ''
    const position = searchParams.get(`${side}_position`) ?? ''
    if (known_at !== '') sent.set(`${side}_known_at`, instantOf(known_at))
    else if (position !== '') sent.set(`${side}_position`, position)
  }
  return sent
}

const differenceForm = (url: URL, stops: readonly Stop[]): View => {
  const chosen = (side: (typeof sides)[number], none: string) => {
    const asked = url.searchParams.get(`${side}_position`) ?? ''
    return h(
      'select',
      { name: `${side}_position` },
      h('option', { value: '' }, none),
      stops.map((stop) => h('option', { value: stop.position, selected: asked === stop.position }, stopSays(stop))),
    )
  }
  const time = (side: (typeof sides)[number]) =>
    h('input', {
      name: `${side}_known_at`,
      type: 'datetime-local',
      value: url.searchParams.get(`${side}_known_at`) ?? '',
    })
  return h(
    'form',
    { class: 'filters', method: 'get', action: url.pathname },
    h('label', {}, h('span', {}, 'After the event'), chosen('from', '')),
    h('label', {}, h('span', {}, 'or at this time'), time('from')),
    h('label', {}, h('span', {}, 'and after the event'), chosen('to', 'now')),
    h('label', {}, h('span', {}, 'or at this other time'), time('to')),
    h('button', { type: 'submit' }, 'Show what differs'),
  )
}

/** The values of a record that differ between two moments. */
export const recordDifferencePage: Page = {
  address: '/console/organisations/:organisation_id/history/records/:type/:id/difference',
  show: async (asked) => {
    const { organisation, url, now } = asked
    const organisation_id = organisation?.id ?? ''
    const record = recordIn(asked)
    const address = asOfAddress(organisation_id, record)
    if (address === undefined) return { opens: historyOf(organisation_id, record) }
    const sent = momentsIn(url)
    const isAsked = sent.has('from_known_at') || sent.has('from_position')
    sent.set('address', address)
    const [{ stops, isCut }, found] = await Promise.all([
      stopsOf(asked, `${record.type}-${record.id}`),
      isAsked ? now(`${auditOf(organisation_id, 'difference')}?${sent.toString()}`, Difference) : undefined,
    ])
    return {
      title: `What differs in ${a(record.type)}`,
      main: [
        historyParts(organisation_id, url),
        facts([['History', link(historyOf(organisation_id, record), h('code', {}, record.id))]]),
        differenceForm(url, stops),
        isCut && h('p', { class: 'quiet' }, 'The latest 200 events can be chosen; any other moment by its time.'),
        found &&
          (found.data.changes.length === 0
            ? empty('Nothing differs between these two moments.')
            : changeTable(found.data.changes)),
      ],
    }
  },
}
