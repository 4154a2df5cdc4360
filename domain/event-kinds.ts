import type { Json } from './event.ts'
import { ActivityKind, leadEvents } from './leads/events.ts'
import { storedEvents } from './stored-events.ts'
import { leadEventNames, lifecycle, TriggerEventType } from './workflows/events.ts'

/**
 * The kind of a stored event is its type. Two types are published under several names, or only at times: of those the kind
 * says which, behind a stroke, so that what is asked for by either name is found by its kind alone.
 */
export type Kind = string

const activities = ActivityKind.options.map((kind) => `LeadActivityRecorded/${kind}`)
const newGrade = 'LeadScored/grade'

export const kindOf = (type: string, data: Json): Kind => {
  if (type === 'LeadActivityRecorded') return `${type}/${String(data['kind'])}`
  if (type === 'LeadScored' && data['from_grade'] !== data['grade']) return newGrade
  return type
}

/** The type under which an event of a kind is stored. */
export const typeOf = (kind: Kind): string => kind.split('/', 1)[0] ?? kind

type LeadEventName = keyof typeof leadEventNames

/** The kind of each event of a lead that is published, beside its activities. */
const leadKinds: Readonly<Record<LeadEventName, keyof typeof leadEvents | typeof newGrade>> = {
  'lead.created': 'LeadCreated',
  'lead.facts_recorded': 'LeadFactsRecorded',
  'lead.stage_changed': 'LeadStageChanged',
  'lead.owner_assigned': 'LeadOwnerAssigned',
  'lead.status_changed': 'LeadStatusChanged',
  'lead.outcome_reason_set': 'LeadOutcomeReasonSet',
  'lead.vulnerability_flagged': 'LeadVulnerabilityFlagged',
  'lead.next_action_due': 'LeadNextActionFellDue',
  'lead.first_contact_overdue': 'LeadFirstContactOverdue',
  'lead.grade_changed': newGrade,
  'lead.tps_screened': 'LeadTpsScreened',
  'lead.task_completed': 'LeadTaskCompleted',
  'lead.snooze_ended': 'LeadSnoozeEnded',
  'lead.manual_run': 'LeadRunByHand',
  'contact.details_changed': 'ContactDetailsChanged',
}

const publishedNames: ReadonlyMap<Kind, string> = new Map([
  ...Object.values(lifecycle).flatMap(({ names }) => Object.entries<string>(names)),
  ...Object.entries(leadKinds).map(([name, kind]) => [kind, name] as const),
  ...ActivityKind.options.map((kind) => [`LeadActivityRecorded/${kind}`, `activity.${kind}`] as const),
])

/** The name under which receivers of webhooks and feeds know an event; undefined: it is not published. */
export const publishedName = (kind: Kind): string | undefined => publishedNames.get(kind)

/** The kinds that a type or a published name stands for; none: there is no such event. */
export const kindsNamed = (name: string): readonly Kind[] => {
  if (name === 'LeadActivityRecorded') return activities
  if (name === 'LeadScored') return [name, newGrade]
  if (Object.hasOwn(storedEvents, name)) return [name]
  return TriggerEventType.options.some((each) => each === name)
    ? [...publishedNames].flatMap(([kind, published]) => (published === name ? [kind] : []))
    : []
}

/** Stands for the organisation of an event that belongs to none. */
export const installation = '00000000-0000-0000-0000-000000000000'
