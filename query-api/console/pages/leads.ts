import { h, type View } from '../view.ts'
import { z } from 'zod'
import { ConsentPurpose } from '#domain/campaigns/events.ts'
import { CustomerDetails } from '#domain/customers/events.ts'
import { ConsentHeld } from '#domain/customers/record.ts'
import { ActivityKind, LeadStatus } from '#domain/leads/events.ts'
import { LeadRecord, MarketingPermission } from '#domain/leads/record.ts'
import { Pipeline } from '#domain/pipeline/events.ts'
import { Channel } from '#domain/values.ts'
import { act, choicesOf, type Act } from '../act.ts'
import type { List } from '../list.ts'
import { apiOf, pageOf, type Asked, type Page } from '../page.ts'
import {
  badge,
  facts,
  label,
  link,
  moment,
  section,
  shortId,
  table,
  text,
  words,
  type Choice,
  type Tone,
  nameOf,
} from '../show.ts'
import { pastForm } from '../past.ts'
import { happened } from '../timeline.ts'

const Person = CustomerDetails.nullable()
const ListedLead = LeadRecord.extend({ person: Person })
const WholeLead = LeadRecord.extend({
  person: Person,
  email_verified: z.boolean(),
  phone_verified: z.boolean(),
  consent: z.array(ConsentHeld),
  marketing: z.array(MarketingPermission),
})
type WholeLead = z.infer<typeof WholeLead>

const tones: Readonly<Record<string, Tone>> = { open: 'wait', won: 'good', lost: 'bad' }

/** The next thing to do for a lead, and when. */
const nextOf = ({
  next_action,
  next_action_overdue,
  first_contact_due_at,
  first_contacted_at,
  first_contact_overdue,
}: LeadRecord) => {
  if (next_action)
    return [
      words(next_action.type),
      ' ',
      moment(next_action.due_at),
      next_action_overdue && [' ', badge('overdue', 'bad')],
    ]
  if (first_contact_due_at === null || first_contacted_at !== null) return text(null)
  return ['first contact ', moment(first_contact_due_at), first_contact_overdue && [' ', badge('overdue', 'bad')]]
}

export const leads: List<typeof ListedLead> = {
  title: 'Leads',
  path: 'leads',
  api: 'leads',
  item: ListedLead,
  isFeed: true,
  always: { order: 'newest_change' },
  filters: [{ name: 'status', label: 'Status', choices: choicesOf(LeadStatus.options) }],
  none: 'No lead has come in yet. Leads are sent by POST /api/v1/ingests, or from a file.',
  columns: (organisation_id) => [
    {
      title: 'Person',
      show: ({ contact_id, person }) =>
        link(pageOf(organisation_id, `leads/${contact_id}`), nameOf(person) || person?.email || shortId(contact_id)),
    },
    { title: 'Status', show: ({ shown }) => badge(shown.status, tones[shown.status]) },
    { title: 'Stage', show: ({ shown }) => label(shown.stage.key) },
    { title: 'Source', show: ({ source }) => words(source) },
    { title: 'Next', show: nextOf },
    { title: 'Changed', show: ({ updated_at }) => moment(updated_at) },
  ],
}

const answers: readonly Choice[] = [
  ['withdrawn', 'withdraw their consent'],
  ['refused', 'refuse'],
  ['granted', 'agree'],
]

const actsOf = (lead: WholeLead, { stages }: Pipeline): readonly Act[] => {
  const to = { method: 'POST', address: apiOf(lead.organisation_id, `leads/${lead.contact_id}/acts`) } as const
  return [
    {
      ...to,
      title: 'Record a call or note',
      sends: { 'acts.0.act': 'record_activity' },
      ids: ['acts.0.activity_id'],
      fields: [
        {
          name: 'acts.0.kind',
          label: 'Kind',
          kind: 'choice',
          choices: choicesOf(ActivityKind.options),
          value: 'call',
          isRequired: true,
        },
        { name: 'acts.0.summary', label: 'What was said', kind: 'lines', isRequired: true },
        {
          name: 'acts.0.direction',
          label: 'Direction',
          kind: 'choice',
          choices: [
            ['outbound', 'We called or wrote'],
            ['inbound', 'They called or wrote'],
          ],
        },
      ],
    },
    {
      title: 'Record what they said to being contacted',
      method: 'POST',
      address: apiOf(lead.organisation_id, `people/${lead.contact_id}/consent`),
      fields: [
        { name: 'entries.0.state', label: 'They', kind: 'choice', choices: answers, isRequired: true },
        {
          name: 'entries.0.channel',
          label: 'Channel',
          kind: 'choice',
          choices: choicesOf(Channel.options),
          isRequired: true,
        },
        {
          name: 'entries.0.purpose',
          label: 'For',
          kind: 'choice',
          choices: choicesOf(ConsentPurpose.options),
          isRequired: true,
        },
        { name: 'method', label: 'How they said so', kind: 'text', hint: 'Such as: by phone.', isRequired: true },
      ],
      ask: 'It holds from now on, for every message and call.',
    },
    {
      ...to,
      title: 'Move to a stage',
      sends: { 'acts.0.act': 'move_to_stage' },
      fields: [
        {
          name: 'acts.0.stage',
          label: 'Stage',
          kind: 'choice',
          choices: stages.map(({ key, label: shown }) => [key, shown] as const),
          value: lead.shown.stage.key,
          isRequired: true,
        },
      ],
    },
    {
      ...to,
      title: 'Change the status',
      sends: { 'acts.0.act': 'change_status' },
      fields: [
        {
          name: 'acts.0.status',
          label: 'Status',
          kind: 'choice',
          choices: choicesOf(LeadStatus.options),
          value: lead.shown.status,
          isRequired: true,
        },
        { name: 'acts.0.reason', label: 'Reason', kind: 'text' },
      ],
    },
    {
      ...to,
      title: 'Set the next action',
      sends: { 'acts.0.act': 'set_next_action' },
      fields: [
        { name: 'acts.0.next_action.type', label: 'Kind', kind: 'text', value: 'call', isRequired: true },
        { name: 'acts.0.next_action.due_at', label: 'Due', kind: 'instant', isRequired: true },
        { name: 'acts.0.next_action.summary', label: 'What is to be done', kind: 'text', isNullable: true },
      ],
    },
    {
      ...to,
      title: 'Add a task',
      sends: { 'acts.0.act': 'add_task' },
      ids: ['acts.0.task_id'],
      fields: [
        { name: 'acts.0.title', label: 'Task', kind: 'text', isRequired: true },
        { name: 'acts.0.due_at', label: 'Due', kind: 'instant' },
      ],
    },
  ]
}

const tasksOf = ({ tasks, organisation_id, contact_id }: WholeLead, mayAct: boolean): View => {
  const open = tasks.filter(({ completed_at }) => completed_at === null)
  if (open.length === 0) return null
  return section(
    'Tasks',
    h(
      'ul',
      { class: 'tasks' },
      ...open.map(({ id, title, due_at }) =>
        h(
          'li',
          {},
          h('span', {}, title, due_at !== null && [' · ', moment(due_at)]),
          mayAct &&
            act({
              title: `Done: ${title}`,
              method: 'POST',
              address: apiOf(organisation_id, `leads/${contact_id}/acts`),
              sends: { 'acts.0.act': 'complete_task', 'acts.0.task_id': id },
            }),
        ),
      ),
    ),
  )
}

const consentOf = ({ marketing, consent }: WholeLead): View => [
  section(
    'May we approach them?',
    table(
      'Marketing by channel',
      [
        { title: 'Channel', show: ({ channel }) => label(channel) },
        { title: 'Allowed', show: ({ allowed }) => (allowed ? badge('yes', 'good') : badge('no', 'bad')) },
        { title: 'Because', show: ({ reason }) => words(reason) },
      ],
      marketing,
    ),
  ),
  consent.length > 0 &&
    section(
      'What they said',
      table(
        'Consent',
        [
          { title: 'Channel', show: ({ channel }) => label(channel) },
          { title: 'For', show: ({ purpose }) => words(purpose) },
          { title: 'Answer', show: ({ state }) => words(state) },
          { title: 'When', show: ({ said_at }) => moment(said_at) },
        ],
        consent,
      ),
    ),
]

const Said = z.object({
  data: z.array(
    z.object({
      event_id: z.string(),
      event_type: z.string(),
      occurred_at: z.string(),
      payload: z.record(z.string(), z.unknown()),
    }),
  ),
})

const mostSaid = 200

/** Calls, notes and messages in the words in which they were recorded, the newest first. */
const saidOf = ({ data }: z.infer<typeof Said>): View => {
  const said = data.flatMap(({ event_id, event_type, occurred_at, payload }) =>
    typeof payload['summary'] === 'string' ? [{ event_id, event_type, occurred_at, summary: payload['summary'] }] : [],
  )
  if (said.length === 0) return null
  return section(
    'What was said',
    table(
      'Calls and notes',
      [
        { title: 'What', show: ({ summary }) => summary },
        { title: 'Kind', show: ({ event_type }) => words(event_type.replace('activity.', '')) },
        { title: 'When', show: ({ occurred_at }) => moment(occurred_at) },
      ],
      said.toReversed(),
    ),
    data.length === mostSaid && h('p', { class: 'quiet' }, `Of the first ${mostSaid} events.`),
  )
}

const known = (lead: WholeLead): View =>
  facts([
    ['Status', badge(lead.shown.status, tones[lead.shown.status])],
    ['Stage', label(lead.shown.stage.key)],
    ['Grade and score', `${lead.grade} · ${lead.shown.score}`],
    ['Next', nextOf(lead)],
    ['Email', [text(lead.person?.email), lead.email_verified && [' ', badge('confirmed', 'good')]]],
    ['Telephone', [text(lead.person?.phone_number), lead.phone_verified && [' ', badge('confirmed', 'good')]]],
    ['Source', words(lead.source)],
    ['Vulnerable', lead.vulnerable ? badge('yes', 'wait') : 'no'],
    ...Object.entries(lead.facts).map(([key, value]) => [label(key), String(value)] as const),
  ])

/** One lead: who it is, how it stands, what was said, and what can be done next. */
export const leadPage: Page = {
  address: '/console/organisations/:organisation_id/leads/:contact_id',
  show: async ({ me, organisation, path, url, read, now, past }: Asked) => {
    const address = apiOf(organisation?.id ?? '', `leads/${path['contact_id'] ?? ''}`)
    const [{ data: lead }, events, said, pipeline] = await Promise.all([
      read(address, z.object({ data: WholeLead })),
      happened({ now, url }, `${address}/history`),
      now(`${address}/timeline?limit=${mostSaid}`, Said),
      now(apiOf(organisation?.id ?? '', 'pipeline'), z.object({ data: Pipeline })),
    ])
    const mayAct = me.roles.includes('leads') && !past
    return {
      title: nameOf(lead.person) || 'A lead without a name',
      main: h(
        'div',
        { class: 'record' },
        h('div', {}, pastForm(me, url, past), known(lead), tasksOf(lead, mayAct), saidOf(said), consentOf(lead)),
        h('div', {}, mayAct && section('What next', ...actsOf(lead, pipeline.data).map(act)), events),
      ),
    }
  },
}
