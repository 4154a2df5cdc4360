import { h, type View } from '../view.ts'
import { z } from 'zod'
import { CustomerDetails } from '#domain/customers/events.ts'
import { ConsentHeld } from '#domain/customers/record.ts'
import { LeadStatus } from '#domain/leads/events.ts'
import { LeadRecord, MarketingPermission, nextDue } from '#domain/leads/record.ts'
import { Pipeline } from '#domain/pipeline/events.ts'
import { isAboutLeads, Workflow } from '#domain/workflows/record.ts'
import { act, choicesOf } from '../act.ts'
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
  value,
  words,
  type Choice,
  type Fact,
  type Tone,
  nameOf,
} from '../show.ts'
import { pastForm } from '../moments.ts'
import { happened } from '../timeline.ts'
import { consentOf } from './consent.ts'
import { leadActs, runs, settleActs } from './lead-acts.ts'

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

const pipelineOf = async ({ organisation, now }: Asked): Promise<Pipeline> =>
  (await now(apiOf(organisation?.id ?? '', 'pipeline'), z.object({ data: Pipeline }))).data

const stagesOf = async (asked: Asked): Promise<readonly Choice[]> =>
  (await pipelineOf(asked)).stages.map(({ key, label: shown }) => [key, shown])

/** Who may work a lead, whoever looks first. */
const workersOf = async (asked: Asked): Promise<readonly Choice[]> => {
  const { team_members } = await pipelineOf(asked)
  const isOwn = ({ email }: { readonly email: string }) => email.toLowerCase() === asked.me.email.toLowerCase()
  const own = team_members.filter(isOwn).map(({ id }) => [id, 'me'] as const)
  return [
    ...own,
    ...team_members.filter((member) => !isOwn(member)).map(({ id, full_name }) => [id, full_name] as const),
  ]
}

const workedBy = { name: 'owner_id', label: 'Worked by', choices: workersOf }

export const leads: List<typeof ListedLead> = {
  title: 'Leads',
  path: 'leads',
  api: 'leads',
  item: ListedLead,
  isFeed: true,
  always: { order: 'newest_change' },
  filters: [
    { name: 'status', label: 'Status', choices: choicesOf(LeadStatus.options) },
    { name: 'stage', label: 'Stage', choices: stagesOf },
    workedBy,
  ],
  none: 'No lead has come in yet. Leads are sent by POST /api/v1/crm/ingests, or from a file.',
  work: { open_leads: 'open' },
  columns: (organisation_id) => [
    {
      title: 'Person',
      show: ({ contact_id, person }) =>
        link(pageOf(organisation_id, `leads/${contact_id}`), nameOf(person) || person?.email || shortId(contact_id)),
    },
    { title: 'Email or telephone', show: ({ person }) => text(person?.email ?? person?.phone_number) },
    { title: 'Status', show: ({ shown }) => badge(shown.status, tones[shown.status]) },
    { title: 'Stage', show: ({ shown }) => label(shown.stage.key) },
    { title: 'Source', show: ({ source }) => words(source) },
    { title: 'Next', show: nextOf },
    { title: 'Changed', show: ({ updated_at }) => moment(updated_at) },
  ],
}

/** The leads by when they came in, as figures count them. */
export const newLeads: List<typeof ListedLead> = {
  ...leads,
  title: 'Leads that came in',
  path: 'leads/new',
  always: { order: 'newest' },
  filters: [
    { name: 'stage', label: 'Stage', choices: stagesOf },
    { name: 'source', label: 'Source' },
    { name: 'since', label: 'From', isMoment: true },
    { name: 'until', label: 'Until', isMoment: true },
  ],
  none: 'No lead has come in within a year.',
  work: {},
  columns: (organisation_id) => [
    ...leads.columns(organisation_id).slice(0, -1),
    { title: 'Came in', show: ({ shown }) => moment(shown.created_at) },
  ],
}

/** The leads for whom something is to be done: what is overdue, and then what comes next. */
export const dueLeads: List<typeof ListedLead> = {
  ...leads,
  title: 'Leads with something to do',
  path: 'leads/due',
  always: { order: 'next_due' },
  filters: [workedBy],
  none: 'Nothing is to be done for any lead. Next actions and tasks are set on the page of a lead.',
  work: { due_leads: null },
  columns: (organisation_id) => [
    ...leads.columns(organisation_id).slice(0, 1),
    { title: 'Due', show: (lead) => moment(nextDue(lead)) },
    ...leads.columns(organisation_id).slice(1, -1),
  ],
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

/** Values that were sent and differ from those held, each to be taken in or left. */
const proposalsOf = (lead: WholeLead, pipeline: Pipeline, mayAct: boolean): View => {
  const proposed = Object.entries(lead.proposed)
  if (proposed.length === 0) return null
  return section(
    'Sent, and different from what is known',
    table(
      'Values to settle',
      [
        { title: 'What', show: (each) => factOf(pipeline)(each)[0] },
        { title: 'Known', show: ([key]) => value(lead.facts[key] ?? 'nothing') },
        { title: 'Sent', show: ([, sent]) => value(sent) },
        ...(mayAct
          ? [{ title: 'Settle', show: ([key]: (typeof proposed)[number]) => settleActs(lead, key).map(act) }]
          : []),
      ],
      proposed,
    ),
  )
}

/** A fact by the label that the firm has given its field. */
const factOf =
  ({ custom_fields }: Pipeline) =>
  ([key, held]: readonly [string, unknown]): Fact => [
    custom_fields.find((field) => field.key === key)?.label ?? label(key),
    value(held),
  ]

const known = (lead: WholeLead, pipeline: Pipeline): View =>
  facts([
    ['Status', badge(lead.shown.status, tones[lead.shown.status])],
    ['Stage', label(lead.shown.stage.key)],
    ['Grade and score', `${lead.grade} · ${lead.shown.score}`],
    ['Next', nextOf(lead)],
    ['Email', [text(lead.person?.email), lead.email_verified && [' ', badge('confirmed', 'good')]]],
    ['Telephone', [text(lead.person?.phone_number), lead.phone_verified && [' ', badge('confirmed', 'good')]]],
    ['Source', words(lead.source)],
    ['Vulnerable', lead.vulnerable ? badge('yes', 'wait') : 'no'],
    ...Object.entries(lead.facts).map(factOf(pipeline)),
  ])

const Workflows = z.object({ data: z.array(Workflow) })
const mostWorkflows = 200

/** The workflows that may be run for a lead by hand. */
const runnable = async ({ organisation, now }: Asked, lead: WholeLead): Promise<readonly Workflow[]> => {
  const { data } = await now(apiOf(organisation?.id ?? '', `workflows?limit=${mostWorkflows}`), Workflows)
  return data.filter((workflow) => {
    const { state, trigger } = workflow
    if (state === 'archived' || !isAboutLeads(workflow)) return false
    return trigger.campaign_id === null || trigger.campaign_id === lead.campaign?.id
  })
}

const whatNext = async (asked: Asked, lead: WholeLead, pipeline: Pipeline): Promise<View> => {
  const workflows = await runnable(asked, lead)
  return [
    section('What next', leadActs(lead, { pipeline, email: asked.me.email }).map(act)),
    workflows.length > 0 && section('Workflows by hand', runs(lead, workflows).map(act)),
  ]
}

/** One lead: who it is, how it stands, what was said, and what can be done next. */
export const leadPage: Page = {
  address: '/console/organisations/:organisation_id/leads/:contact_id',
  show: async (asked) => {
    const { me, organisation, path, url, read, now, past } = asked
    const contact_id = path['contact_id'] ?? ''
    const address = apiOf(organisation?.id ?? '', `leads/${contact_id}`)
    const [{ data: lead }, pipeline, moments, events, said] = await Promise.all([
      read(address, z.object({ data: WholeLead })),
      pipelineOf(asked),
      pastForm(asked, `lead-${contact_id}`),
      happened({ now, url }, `${address}/history`),
      now(`${address}/timeline?limit=${mostSaid}`, Said),
    ])
    const mayAct = me.roles.includes('leads') && !past
    return {
      title: nameOf(lead.person) || 'A lead without a name',
      main: h(
        'div',
        { class: 'record' },
        h(
          'div',
          {},
          moments,
          known(lead, pipeline),
          proposalsOf(lead, pipeline, mayAct),
          tasksOf(lead, mayAct),
          saidOf(said),
          consentOf(lead, mayAct),
        ),
        h('div', {}, mayAct && (await whatNext(asked, lead, pipeline)), events),
      ),
    }
  },
}
