import { z } from 'zod'
import { isConsistent, leafHash, rootFromLeaf } from '#infra/audit-tree/merkle.ts'
import { readHead, type LogHead } from '#infra/audit-tree/checkpoint-text.ts'
import { openNote, readVerifier, verifierText } from '#infra/audit-tree/signed-note.ts'
import { auditOf, pageOf, type Asked, type Page, type Shown } from '../page.ts'
import { Refused } from '../read.ts'
import { historyOf, recordLink } from '../records.ts'
import {
  addressWith,
  badge,
  empty,
  facts,
  link,
  moment,
  more,
  section,
  table,
  type Column,
  type Fact,
} from '../show.ts'
import { sentence } from '../timeline.ts'
import { h, type View } from '../view.ts'
import { historyParts } from './history.ts'
import { Delivery } from '../../delivery-log.ts'
import { shownDeliveries } from './requests.ts'

const Checkpoint = z.object({ size: z.int(), signed_at: z.string(), note: z.string() })
type Checkpoint = z.infer<typeof Checkpoint>

const AuditLog = z.object({
  data: z.object({ origin: z.string(), size: z.int(), keys: z.array(z.string()), checkpoint: Checkpoint.nullable() }),
})
type AuditLog = z.infer<typeof AuditLog>['data']

const Checkpoints = z.object({ data: z.array(Checkpoint), next_cursor: z.string().nullable() })

const Inclusion = z.object({
  data: z.object({
    index: z.int(),
    record: z.string(),
    proof: z.array(z.string()),
    checkpoint: Checkpoint,
  }),
})
type Inclusion = z.infer<typeof Inclusion>['data']

const Consistency = z.object({
  data: z.object({ former: Checkpoint, proof: z.array(z.string()), checkpoint: Checkpoint }),
})

const hashesOf = (proof: readonly string[]): readonly Buffer[] => proof.map((hash) => Buffer.from(hash, 'base64'))

/** The head that a checkpoint signs, and by which of the keys; undefined where no key has signed it as it is. */
const openedOf = ({ note }: Checkpoint, { keys }: Pick<AuditLog, 'keys'>) => {
  const verifiers = keys.map(readVerifier).filter((each) => each !== undefined)
  const opened = openNote(note, verifiers)
  const head = opened && readHead(opened.text)
  return opened && head && { head, signedBy: opened.signedBy.map(verifierText) }
}

const verdict = (isRight: boolean, right: string, wrong: string): View =>
  h('p', {}, badge(isRight ? 'right' : 'not right', isRight ? 'good' : 'bad'), ' ', isRight ? right : wrong)

const signatureOf = (checkpoint: Checkpoint, log: AuditLog): View => {
  const opened = openedOf(checkpoint, log)
  return [
    verdict(
      opened !== undefined && opened.head.size === checkpoint.size,
      `The signature is that of ${opened?.signedBy.length === 1 ? 'a key' : 'keys'} of this log: it had ${checkpoint.size} entries then.`,
      'No key of this log has signed this text.',
    ),
    h('details', {}, h('summary', {}, 'The checkpoint'), h('pre', {}, checkpoint.note)),
  ]
}

/** True where the entry, with the hashes beside its way, leads to the root that is signed. */
const isIncluded = ({ index, record, proof }: Inclusion, head: LogHead | undefined): boolean =>
  head !== undefined &&
  (rootFromLeaf(leafHash(Buffer.from(record)), index, head.size, hashesOf(proof))?.equals(head.root) ?? false)

const shownInclusion = (included: Inclusion, log: AuditLog): View => [
  verdict(
    isIncluded(included, openedOf(included.checkpoint, log)?.head),
    `The event, as it is stored now, is entry ${included.index} of the log of ${included.checkpoint.size} that is signed.`,
    'The event, as it is stored now, is not what was recorded, or the checkpoint is not signed as it should be.',
  ),
  h(
    'p',
    { class: 'quiet' },
    `Checked now: the entry was made again of the event; its fingerprint and the ${included.proof.length} beside its way lead to the fingerprint of the whole log; a key of the log has signed that.`,
  ),
  h('details', {}, h('summary', {}, 'The entry'), h('pre', {}, included.record)),
]

/** Below this are the addresses of the log of the organisation or, without one, of the installation. */
const apiOf = (organisation: Asked['organisation'], path: string): string =>
  organisation ? auditOf(organisation.id, path) : `/audit/v1/${path}`

const consistencyOf = async ({ organisation, url, now }: Asked, log: AuditLog): Promise<View> => {
  const former = url.searchParams.get('former') ?? ''
  if (former === '') return null
  const address = `${apiOf(organisation, 'consistency_proof')}?${new URLSearchParams({ former }).toString()}`
  const { data } = await now(address, Consistency)
  const [before, after] = [openedOf(data.former, log)?.head, openedOf(data.checkpoint, log)?.head]
  const isRight = before !== undefined && after !== undefined && isConsistent(before, after, hashesOf(data.proof))
  return section(
    'Two checkpoints',
    verdict(
      isRight,
      `The log of ${data.checkpoint.size} entries begins with the ${data.former.size} that were signed before: none of them was changed, taken out or put in.`,
      `The log of ${data.checkpoint.size} entries does not begin with the ${data.former.size} that were signed before.`,
    ),
  )
}

const eventForm = (organisation_id: string, url: URL): View =>
  h(
    'form',
    { class: 'filters', method: 'get', action: pageOf(organisation_id, 'history/log') },
    h(
      'label',
      {},
      h('span', {}, 'Event (id)'),
      h('input', {
        name: 'event_id',
        type: 'text',
        required: true,
        pattern: '[0-9a-fA-F-]{36}',
        value: url.searchParams.get('event_id') ?? '',
      }),
    ),
    h('button', { type: 'submit' }, 'Check that it is in the log'),
  )

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

const howToRely = (): View =>
  h(
    'p',
    { class: 'quiet' },
    'This page was made where the log is kept. To rely on nobody, keep a checkpoint elsewhere, and run ',
    h('code', {}, 'npm run audit -- verify'),
    ', which compares every event with every checkpoint.',
  )

/** The log in which every event has an entry: its checkpoints, and what was checked of them now. */
const shownLog = async (
  asked: Asked,
  beside: { readonly above?: View; readonly event?: View } = {},
): Promise<Shown> => {
  const { organisation, url, now } = asked
  const cursor = url.searchParams.get('cursor')
  const sent = new URLSearchParams({ limit: '25', ...(cursor !== null && { cursor }) })
  const { data: log } = await now(apiOf(organisation, 'log'), AuditLog)
  const [{ data: checkpoints, next_cursor }, consistency] = await Promise.all([
    now(`${apiOf(organisation, 'checkpoints')}?${sent.toString()}`, Checkpoints),
    consistencyOf(asked, log),
  ])
  return {
    title: 'Has anything been altered',
    main: [
      beside.above,
      facts([
        ['Log', h('code', {}, log.origin)],
        ['Entries', String(log.size)],
        ['Keys', log.keys.map((key) => h('code', { class: 'long' }, key))],
      ]),
      section(
        'The newest checkpoint',
        log.checkpoint ? signatureOf(log.checkpoint, log) : empty('None was signed yet. One is every minute.'),
        howToRely(),
      ),
      beside.event,
      consistency,
      section(
        'All checkpoints',
        checkpoints.length === 0
          ? empty('None was signed yet.')
          : table('Checkpoints', checkpointColumns(url), checkpoints),
        more(url, next_cursor),
      ),
    ],
  }
}

const checkpointColumns = (url: URL): readonly Column<Checkpoint>[] => [
  { title: 'Signed', show: ({ signed_at }) => moment(signed_at) },
  { title: 'Entries', show: ({ size }) => String(size), isNumber: true },
  { title: 'Compare', show: ({ size }) => link(addressWith(url, { former: String(size) }), 'with the newest') },
]

/** The log of an organisation. */
export const auditLogPage: Page = {
  address: '/console/organisations/:organisation_id/history/log',
  show: async (asked) => {
    const { organisation, url } = asked
    const organisation_id = organisation?.id ?? ''
    const sought = url.searchParams.get('event_id')?.trim().toLowerCase() ?? ''
    if (uuid.test(sought)) return { opens: pageOf(organisation_id, `history/events/${sought}`) }
    return shownLog(asked, {
      above: historyParts(organisation_id, url),
      event: section('One event', eventForm(organisation_id, url)),
    })
  },
}

/** The log of the installation, for whoever works for all of it. */
export const checkpointsPage: Page = {
  address: '/console/checkpoints',
  show: async (asked) => shownLog(asked),
}

const Entry = z.object({ stream: z.string(), type: z.string(), recorded_at_ms: z.number() })

const Events = z.object({
  data: z.array(z.object({ event_id: z.string(), request_id: z.string(), position: z.string() })),
})

/** The event in the search of events: recorded at that millisecond, on that record. */
const rowOf = async (
  { now, organisation }: Asked,
  event_id: string,
  { stream, recorded_at_ms }: z.infer<typeof Entry>,
) => {
  const at = (ms: number) => new Date(ms).toISOString()
  const sent = new URLSearchParams({
    record: stream,
    recorded_since: at(recorded_at_ms),
    recorded_until: at(recorded_at_ms + 1),
    limit: '200',
  })
  const { data } = await now(`${auditOf(organisation?.id ?? '', 'events')}?${sent.toString()}`, Events)
  return data.find((each) => each.event_id === event_id)
}

/** Undefined where there is none, or none yet: entries are made a moment after events, and signed within a minute. */
const unlessMissing = <Found>(found: Promise<Found>): Promise<Found | undefined> =>
  found.catch((error: unknown) => {
    if (error instanceof Refused && error.status === 404) return undefined
    throw error
  })

const knownOf = async (asked: Asked, event_id: string, record: string): Promise<readonly Fact[]> => {
  const organisation_id = asked.organisation?.id ?? ''
  const entry = Entry.parse(JSON.parse(record))
  const dash = entry.stream.indexOf('-')
  const of = { type: entry.stream.slice(0, dash), id: entry.stream.slice(dash + 1) }
  const row = await rowOf(asked, event_id, entry)
  return [
    ['What', sentence(entry.type)],
    ['To', recordLink(organisation_id, of)],
    ['Recorded', moment(new Date(entry.recorded_at_ms).toISOString())],
    ['In its history', link(`${historyOf(organisation_id, of)}#event-${event_id}`, 'What it changed')],
    ...(row
      ? [
          [
            'Request',
            link(pageOf(organisation_id, `history/requests/${row.request_id}`), 'All that its request caused'),
          ] as const,
        ]
      : []),
  ]
}

/** One event: to what it happened, who was told of it, and that it is in the log. */
export const eventPage: Page = {
  address: '/console/organisations/:organisation_id/history/events/:event_id',
  show: async (asked) => {
    const { organisation, path, url, now } = asked
    const organisation_id = organisation?.id ?? ''
    const event_id = path['event_id'] ?? ''
    const [{ data: deliveries }, included, { data: log }] = await Promise.all([
      now(auditOf(organisation_id, `events/${event_id}/deliveries`), z.object({ data: z.array(Delivery) })),
      unlessMissing(now(`${auditOf(organisation_id, 'inclusion_proof')}?event_id=${event_id}`, Inclusion)),
      now(auditOf(organisation_id, 'log'), AuditLog),
    ])
    const known = included ? await knownOf(asked, event_id, included.data.record) : []
    return {
      title: 'An event',
      main: [
        historyParts(organisation_id, url),
        facts([...known, ['Event', h('code', {}, event_id)]]),
        section(
          'Who was told',
          deliveries.length === 0
            ? empty('No webhook told of it.')
            : h('ul', { class: 'caused' }, shownDeliveries(organisation_id, deliveries)),
        ),
        section(
          'Its place in the log',
          included ? shownInclusion(included.data, log) : empty('No checkpoint holds it yet. Look again in a minute.'),
          howToRely(),
        ),
      ],
    }
  },
}
