import { z } from 'zod'
import { act } from '../act.ts'
import { rowChart } from '../chart.ts'
import type { Asked, Page } from '../page.ts'
import { asked } from '../page.ts'
import { badge, empty, facts, link, moment, more, section, table, text, type Column, type Tone } from '../show.ts'
import { h, type View } from '../view.ts'

const Rebuild = z.object({
  state: z.enum(['waiting', 'under_way', 'done', 'given_up']),
  requested_at: z.string(),
  started_at: z.string().nullable(),
  done: z.int(),
  total: z.int().nullable(),
  finished_at: z.string().nullable(),
  fault: z.string().nullable(),
})
type Rebuild = z.infer<typeof Rebuild>

const Consumer = z.object({
  name: z.string(),
  role: z.string().nullable(),
  version: z.int(),
  state: z.enum(['running', 'set_aside', 'rebuilding', 'not_leased']),
  behind: z.int(),
  behind_seconds: z.number(),
  records_set_aside: z.int(),
  is_resumable: z.boolean(),
  is_rebuildable: z.boolean(),
  rebuild: Rebuild.nullable(),
  held: z.object({ process_id: z.string().nullable(), since: z.string().nullable() }).nullable(),
  last_fault: z
    .object({ event_id: z.string(), event_type: z.string(), fault: z.string(), set_aside_at: z.string() })
    .nullable(),
})
type Consumer = z.infer<typeof Consumer>

const Process = z.object({
  id: z.string(),
  role: z.string(),
  host: z.string(),
  version: z.string(),
  state: z.enum(['ready', 'not_ready', 'silent']),
  started_at: z.string(),
  last_seen_at: z.string(),
  reasons: z.array(z.object({ check: z.string(), detail: z.string().nullable() })),
})
type Process = z.infer<typeof Process>
const Processes = z.object({ data: z.array(Process) })

const SetAside = z.object({
  record: z.string(),
  stream: z.string(),
  event_id: z.string(),
  event_type: z.string(),
  fault: z.string().nullable(),
  set_aside_at: z.string(),
  resume_requested_at: z.string().nullable(),
})

const tones: Readonly<Record<Consumer['state'], Tone>> = {
  running: 'good',
  set_aside: 'bad',
  rebuilding: 'wait',
  not_leased: 'bad',
}
const states: Readonly<Record<Consumer['state'], string>> = {
  running: 'running',
  set_aside: 'records set aside',
  rebuilding: 'being rebuilt',
  not_leased: 'no process runs it',
}

const stateOf = ({ state }: Consumer): View => badge(states[state], tones[state])

const consumerPath = (name: string): string => `/console/consumers/${encodeURIComponent(name)}`
const apiPath = (name: string): string => `/admin/v1/consumers/${encodeURIComponent(name)}`

const columns: readonly Column<Consumer>[] = [
  { title: 'Name', show: ({ name }) => link(consumerPath(name), name) },
  { title: 'Role', show: ({ role }) => text(role) },
  { title: 'State', show: stateOf },
  { title: 'Behind', show: ({ behind }) => behind.toLocaleString('en-GB'), isNumber: true },
  { title: 'Seconds', show: ({ behind_seconds }) => String(behind_seconds), isNumber: true },
  { title: 'Set aside', show: ({ records_set_aside }) => String(records_set_aside), isNumber: true },
]

const readiness: Readonly<Record<Process['state'], Tone>> = { ready: 'good', not_ready: 'bad', silent: 'bad' }

const processColumns: readonly Column<Process>[] = [
  { title: 'Role', show: ({ role }) => role },
  { title: 'State', show: ({ state }) => badge(state, readiness[state]) },
  { title: 'Host', show: ({ host }) => host },
  { title: 'Version', show: ({ version }) => version },
  { title: 'Started', show: ({ started_at }) => moment(started_at) },
  { title: 'Last heard of', show: ({ last_seen_at }) => moment(last_seen_at) },
  {
    title: 'Not ready because',
    show: ({ reasons }) =>
      reasons.length > 0 &&
      h(
        'ul',
        {},
        reasons.map(({ check, detail }) => h('li', {}, detail === null ? check : `${check}: ${detail}`)),
      ),
  },
]

const mostBars = 8

/** Those that are furthest behind, as bars. */
const lagChart = (consumers: readonly Consumer[]): View => {
  const furthest = consumers
    .filter(({ behind_seconds }) => behind_seconds > 0)
    .toSorted((one, other) => other.behind_seconds - one.behind_seconds)
    .slice(0, mostBars)
  if (furthest.length === 0) return empty('Nothing is behind the log.')
  return rowChart({
    title: 'How long the next event has waited',
    description:
      'Of what is furthest behind the log, in seconds. About one is usual: a position is saved once a second.',
    counted: 'Seconds',
    rows: furthest.map(({ name, behind_seconds }) => ({
      title: name,
      value: behind_seconds,
      list: consumerPath(name),
    })),
  })
}

const Clock = z.object({ data: z.object({ now: z.string(), can_be_moved: z.boolean() }) })

/** The first are those that need somebody. */
const urgency: Readonly<Record<Consumer['state'], number>> = { set_aside: 0, not_leased: 1, rebuilding: 2, running: 3 }

/** The whole of the service: what follows the log, how far behind it is, and what waits for an operator. */
export const operationsPage: Page = {
  address: '/console/operations',
  show: async ({ now }) => {
    const [{ data: processes }, { data }, { data: clock }] = await Promise.all([
      now('/admin/v1/processes', Processes),
      now('/admin/v1/consumers', z.object({ data: z.array(Consumer) })),
      now('/admin/v1/clock', Clock),
    ])
    const waiting = data.filter(({ records_set_aside }) => records_set_aside > 0)
    const sorted = data.toSorted((one, other) => urgency[one.state] - urgency[other.state])
    return {
      title: 'Operations',
      main: [
        section(
          'Processes',
          processes.length === 0
            ? empty('None was heard of within a day.')
            : table('Processes', processColumns, processes),
        ),
        section(
          'Records that are set aside',
          waiting.length === 0
            ? empty('None: everything that was recorded could be handled.')
            : table('Records that are set aside', columns, waiting),
        ),
        section('Behind the log', lagChart(data)),
        section('What follows the log', table('What follows the log', columns, sorted)),
        section(
          'Clock',
          facts([
            ['Business time', moment(clock.now)],
            ['May be moved forward', clock.can_be_moved ? 'yes, as this is not production' : 'no'],
          ]),
        ),
      ],
    }
  },
}

const resume = ({ name }: Consumer): View =>
  act({
    title: 'Resume all records',
    method: 'POST',
    address: `${apiPath(name)}/resume`,
    ask: `What waits is handled in the order of the log. Do it once what was wrong has been put right: an event that still cannot be handled keeps its record set aside.`,
  })

const asideColumns = (consumer: Consumer, mayAct: boolean): readonly Column<z.infer<typeof SetAside>>[] => [
  { title: 'Record', show: ({ record }) => h('code', {}, record) },
  { title: 'Event', show: ({ event_type, event_id }) => [event_type, ' ', h('code', { class: 'quiet' }, event_id)] },
  { title: 'Fault', show: ({ fault }) => (fault === null ? 'waits behind another event' : h('code', {}, fault)) },
  { title: 'Since', show: ({ set_aside_at }) => moment(set_aside_at) },
  {
    title: 'Resume',
    show: ({ record, stream, resume_requested_at }) => {
      if (resume_requested_at !== null) return badge('asked for', 'wait')
      return (
        mayAct &&
        record === stream &&
        act({
          title: 'Resume',
          of: record,
          method: 'POST',
          address: `${apiPath(consumer.name)}/resume`,
          sends: { record },
        })
      )
    },
  },
]

const shownFault = ({ last_fault }: Consumer): View =>
  last_fault && [
    h('code', {}, last_fault.fault),
    ` at ${last_fault.event_type} `,
    h('code', { class: 'quiet' }, last_fault.event_id),
    ', ',
    moment(last_fault.set_aside_at),
  ]

const rebuildTones: Readonly<Record<Rebuild['state'], Tone>> = {
  waiting: 'wait',
  under_way: 'wait',
  done: 'good',
  given_up: 'bad',
}

/** The progress of a rebuild, and the way to see it as it is now. */
const progressOf = ({ state, done, total, finished_at, started_at, requested_at, fault }: Rebuild, url: URL): View => [
  facts([
    ['The last', badge(state, rebuildTones[state])],
    ['Asked for', moment(requested_at)],
    ['Begun', moment(started_at)],
    ['Ended', moment(finished_at)],
    ['Given up because of', fault === null ? 'nothing' : h('code', {}, fault)],
  ]),
  state === 'under_way' &&
    h(
      'p',
      {},
      h('progress', {
        max: String(total ?? 1),
        value: String(total === null ? 0 : done),
        'aria-label': 'How much of the log was read',
      }),
      ` ${done.toLocaleString('en-GB')} of ${total === null ? 'the log' : total.toLocaleString('en-GB')}`,
    ),
  finished_at === null && h('p', {}, link(url.pathname, 'Show how far it is now')),
]

const rebuildOf = ({ name, rebuild }: Consumer, mayAct: boolean, url: URL): View =>
  section(
    'Rebuild',
    rebuild ? progressOf(rebuild, url) : empty('None was asked for yet.'),
    mayAct &&
      rebuild?.finished_at !== null &&
      act({
        title: 'Rebuild',
        method: 'POST',
        address: `${apiPath(name)}/rebuild`,
        ids: ['rebuild_id'],
        ask: 'All of it is made again from the first event, beside the one in use, which serves everybody until the new one takes its place. Of a long log that takes long.',
      }),
  )

const heldBy = (held: Consumer['held'], processes: readonly Process[]): View => {
  if (!held) return 'nobody'
  const { role, host } = processes.find(({ id }) => id === held.process_id) ?? {}
  return [role === undefined ? 'a process' : `${role} on ${host}`, ' since ', moment(held.since)]
}

const mayActOf = ({ me }: Asked): boolean => me.roles.includes('operator')

/** One of what follows the log, with the records that it has set aside. */
export const consumerPage: Page = {
  address: '/console/consumers/:consumer',
  show: async (request) => {
    const { now, path, url } = request
    const name = path['consumer'] ?? ''
    const sent = new URLSearchParams({ ...Object.fromEntries(asked(url, [])), limit: '25' })
    const [{ data: processes }, { data: consumer }, { data: aside, next_cursor }] = await Promise.all([
      now('/admin/v1/processes', Processes),
      now(apiPath(name), z.object({ data: Consumer })),
      now(
        `${apiPath(name)}/set_aside?${sent.toString()}`,
        z.object({ data: z.array(SetAside), next_cursor: z.string().nullable() }),
      ),
    ])
    const mayAct = mayActOf(request)
    const { role, version, behind, behind_seconds, held, is_resumable, is_rebuildable, records_set_aside } = consumer
    return {
      title: name,
      main: [
        facts([
          ['State', stateOf(consumer)],
          ['Role', text(role)],
          ['Version', String(version)],
          [
            'Behind the log',
            `${behind.toLocaleString('en-GB')}, for ${behind_seconds === 1 ? '1 second' : `${behind_seconds} seconds`}`,
          ],
          ['Run by', heldBy(held, processes)],
          ['Last fault', shownFault(consumer) ?? 'none'],
        ]),
        section(
          'Records that are set aside',
          aside.length === 0
            ? empty('None.')
            : table('Records that are set aside', asideColumns(consumer, mayAct && is_resumable), aside),
          more(url, next_cursor),
          mayAct && is_resumable && records_set_aside > 0 && resume(consumer),
          !is_resumable &&
            h('p', { class: 'quiet' }, 'Its rows belong to several records: it is rebuilt, and not resumed.'),
        ),
        is_rebuildable && rebuildOf(consumer, mayAct, url),
      ],
    }
  },
}
