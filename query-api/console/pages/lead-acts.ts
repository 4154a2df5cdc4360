import { ActivityKind, BuyingSignal, LeadStatus, Priority, type FactValue } from '#domain/leads/events.ts'
import type { LeadRecord } from '#domain/leads/record.ts'
import type { CustomField, Pipeline } from '#domain/pipeline/events.ts'
import type { Workflow } from '#domain/workflows/record.ts'
import { choicesOf, type Act, type Field } from '../act.ts'
import { apiOf } from '../page.ts'
import { label, type Choice } from '../show.ts'

/** Acts of the team about a lead. */

const directions: readonly Choice[] = [
  ['outbound', 'We called or wrote'],
  ['inbound', 'They called or wrote'],
]

type Lead = LeadRecord

/** An act of the lead's own route, which takes several at once: this is the only one. */
const ownAct = ({ organisation_id, contact_id }: Lead, name: string, given: Omit<Act, 'method' | 'address'>): Act => ({
  method: 'POST',
  address: apiOf(organisation_id, `leads/${contact_id}/acts`),
  ...given,
  sends: { 'acts.0.act': name, ...given.sends },
})

const sayWhatWasSaid = (lead: Lead): readonly Act[] => [
  ownAct(lead, 'record_activity', {
    title: 'Record a call or note',
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
      { name: 'acts.0.direction', label: 'Direction', kind: 'choice', choices: directions },
    ],
  }),
]

const move = (lead: Lead, { stages }: Pipeline): readonly Act[] => [
  ownAct(lead, 'move_to_stage', {
    title: 'Move to a stage',
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
  }),
  ownAct(lead, 'change_status', {
    title: 'Change the status',
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
  }),
]

const plan = (lead: Lead): readonly Act[] => [
  ownAct(lead, 'set_next_action', {
    title: 'Set the next action',
    fields: [
      { name: 'acts.0.next_action.type', label: 'Kind', kind: 'text', value: 'call', isRequired: true },
      { name: 'acts.0.next_action.due_at', label: 'Due', kind: 'instant', isRequired: true },
      { name: 'acts.0.next_action.summary', label: 'What is to be done', kind: 'text', isNullable: true },
    ],
  }),
  ownAct(lead, 'add_task', {
    title: 'Add a task',
    ids: ['acts.0.task_id'],
    fields: [
      { name: 'acts.0.title', label: 'Task', kind: 'text', isRequired: true },
      { name: 'acts.0.due_at', label: 'Due', kind: 'instant' },
    ],
  }),
  lead.snoozed_until === null
    ? ownAct(lead, 'snooze', {
        title: 'Snooze',
        fields: [{ name: 'acts.0.until', label: 'Until', kind: 'instant', isRequired: true }],
      })
    : ownAct(lead, 'end_snooze', { title: 'End the snooze' }),
]

/** The lead is given to a member of the team; whoever looks is offered first. */
const give = (lead: Lead, { team_members }: Pipeline, email: string): readonly Act[] => {
  const active = team_members.filter((member) => member.active)
  if (active.length === 0) return []
  const own = active.find((member) => member.email.toLowerCase() === email.toLowerCase())
  return [
    ownAct(lead, 'assign_owner', {
      title: 'Give it to somebody of the team',
      sends: { 'acts.0.from_owner_id': lead.owner_id },
      fields: [
        {
          name: 'acts.0.owner_id',
          label: 'Who works it',
          kind: 'choice',
          choices: active.map(({ id, full_name }) => [id, id === own?.id ? `${full_name} (you)` : full_name] as const),
          value: lead.owner_id ?? own?.id,
          isRequired: true,
        },
      ],
    }),
  ]
}

const shownPounds = (held: FactValue | undefined): { readonly value?: string } =>
  typeof held === 'number' ? { value: (held / 100).toFixed(2) } : {}

const shownText = (held: FactValue | undefined): { readonly value?: string } =>
  held === undefined || typeof held === 'object' ? {} : { value: String(held) }

const factField = ({ key, label: shown, type, options }: CustomField, held: FactValue | undefined): Field => {
  const common = { name: `acts.0.facts.${key}`, label: shown }
  switch (type) {
    case 'text':
    case 'number':
    case 'date':
      return { ...common, kind: type, ...shownText(held) }
    case 'money':
      return { ...common, kind: 'pounds', ...shownPounds(held) }
    case 'boolean':
      return { ...common, kind: 'yes, no or nothing', value: typeof held === 'boolean' ? held : undefined }
    case 'choice':
      return { ...common, kind: 'choice', choices: options.map((each) => [each, each] as const), ...shownText(held) }
    case 'choices': {
      const values = Array.isArray(held) ? held.map(String) : []
      return { ...common, kind: 'several', choices: options.map((each) => [each, each] as const), values }
    }
  }
}

const know = (lead: Lead, { custom_fields }: Pipeline): readonly Act[] => [
  ...(custom_fields.length === 0
    ? []
    : [
        ownAct(lead, 'record_facts', {
          title: 'Record what is known',
          sendsChanges: true,
          fields: custom_fields.map((field) => factField(field, lead.facts[field.key])),
        }),
      ]),
  ownAct(lead, 'flag_vulnerability', {
    title: lead.vulnerable ? 'They are not vulnerable any more' : 'Mark as vulnerable',
    sends: { 'acts.0.flagged': !lead.vulnerable },
    fields: [{ name: 'acts.0.details', label: 'Details', kind: 'lines' }],
    ask: 'Whoever works with this person sees it.',
  }),
  ownAct(lead, 'mark', {
    title: 'Change the marks',
    sendsChanges: true,
    fields: [
      {
        name: 'acts.0.priority',
        label: 'Priority',
        kind: 'choice',
        choices: choicesOf(Priority.options),
        value: lead.marks.priority,
      },
      {
        name: 'acts.0.buying_signal',
        label: 'They want to buy',
        kind: 'choice',
        choices: choicesOf(BuyingSignal.options),
        ...(lead.marks.buying_signal !== null && { value: lead.marks.buying_signal }),
      },
      {
        name: 'acts.0.follow_up',
        label: 'We have promised to come back',
        kind: 'yes or no',
        value: lead.marks.follow_up,
      },
      { name: 'acts.0.archived', label: 'Out of sight', kind: 'yes or no', value: lead.marks.archived },
    ],
  }),
]

/** Workflows that are run for a lead by hand, which is done seldom. */
export const runs = (lead: Lead, workflows: readonly Workflow[]): readonly Act[] =>
  workflows.map(({ id, name }) => ({
    title: `Run the workflow “${name}”`,
    tone: 'plain',
    method: 'POST',
    address: apiOf(lead.organisation_id, `workflows/${id}/runs`),
    sends: { contact_id: lead.contact_id },
    ids: ['run_id'],
    ask: 'Its actions are done for this lead, whatever else would start them.',
  }))

type Around = {
  readonly pipeline: Pipeline
  /** Of whoever looks. */
  readonly email: string
}

export const leadActs = (lead: Lead, { pipeline, email }: Around): readonly Act[] => [
  ...sayWhatWasSaid(lead),
  ...move(lead, pipeline),
  ...plan(lead),
  ...give(lead, pipeline, email),
  ...know(lead, pipeline),
]

/** Taking in a value that was sent and differs from the one held, or leaving it. */
export const settleActs = (lead: Lead, key: string): readonly Act[] =>
  (['accept', 'dismiss'] as const).map((choice) =>
    ownAct(lead, 'settle_proposals', {
      title: choice === 'accept' ? 'Take it in' : 'Leave it',
      of: label(key),
      sends: { [`acts.0.${choice}.0`]: key },
    }),
  )
