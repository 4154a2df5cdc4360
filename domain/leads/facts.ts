import { isSameJson } from '../canonical-json.ts'
import { aboutOf, dormantAt } from './about.ts'
import type { Circumstances, RecordActivity, RecordFacts, WorkLead } from './commands.ts'
import { mostFacts, type ActivityKind, type Facts, type LeadEvent } from './events.ts'
import { wakeUp } from './status.ts'
import type { BeforeLead, LeadState } from './state.ts'

type Decision = readonly LeadEvent[]

const pick = (facts: Facts, wanted: (key: string) => boolean): Facts =>
  Object.fromEntries(Object.entries(facts).filter(([key]) => wanted(key)))

/** The most held of a lead, and the most proposed beside that. One ingest fits. */
const mostCharacters = 600_000

const sizeOf = (facts: Facts): number => JSON.stringify(facts).length

/** Those of the facts that fit beside what is held, in their order. */
const fitting = (more: Facts, held: Facts): Facts => {
  let count = Object.keys(held).length
  let characters = sizeOf(held)
  return pick(more, (key) => {
    const size = JSON.stringify([key, more[key]]).length
    const isReplaced = held[key] !== undefined
    if ((!isReplaced && count >= mostFacts) || characters + size > mostCharacters) return false
    count += isReplaced ? 0 : 1
    characters += size
    return true
  })
}

/** Facts that nobody held are recorded; a value that differs from the one held replaces it, or is proposed. */
export const recordFacts = (
  { facts, ingest_id, mode }: RecordFacts,
  state: LeadState,
  circumstances: Circumstances,
): Decision => {
  const { facts: held, proposed: before } = state.record
  const about = aboutOf(state, circumstances)
  const isNew = (key: string) => held[key] === undefined || (mode === 'store' && !isSameJson(held[key], facts[key]))
  const differs = (key: string) =>
    mode === 'propose' &&
    held[key] !== undefined &&
    !isSameJson(held[key], facts[key]) &&
    !isSameJson(before[key], facts[key])
  const written = fitting(pick(facts, isNew), held)
  const proposed = fitting(pick(facts, differs), before)
  return [
    ...recorded(written, ingest_id, about),
    ...(Object.keys(proposed).length > 0
      ? [{ type: 'LeadFactsProposed', ...about, proposed: { ...proposed }, ingest_id } as const]
      : []),
  ]
}

const recorded = (facts: Facts, ingest_id: string | null, about: ReturnType<typeof aboutOf>): Decision => {
  const keys = Object.keys(facts)
  return keys.length > 0 ? [{ type: 'LeadFactsRecorded', ...about, keys, facts: { ...facts }, ingest_id }] : []
}

export const settleProposals = (
  { accept, dismiss }: Extract<WorkLead, { type: 'SettleProposals' }>,
  state: LeadState,
  circumstances: Circumstances,
): Decision => {
  const { proposed } = state.record
  const about = aboutOf(state, circumstances)
  const settled = dismiss.filter((key) => proposed[key] !== undefined && !accept.includes(key))
  return [
    ...recorded(
      pick(proposed, (key) => accept.includes(key)),
      null,
      about,
    ),
    ...(settled.length > 0 ? ([{ type: 'LeadProposalsSettled', ...about, keys: settled }] as const) : []),
  ]
}

/** Activities in which the person and the firm are not in contact. */
const withoutContact: ReadonlySet<ActivityKind> = new Set([
  'note',
  'missed_call',
  'bounced',
  'booking_missed',
  'document_sent',
  'task',
  'application_abandoned',
  'quote_expired',
  'market_quotes_ready',
  'policy_updated',
  'policy_lapsed',
  'premium_failed',
  'outcome',
  'outcome_reversed',
  'consent_changed',
  'membership_changed',
])

/** Activities where the firm has contacted the person, or spoken with them. */
const firstContacts: ReadonlySet<ActivityKind> = new Set([
  'call',
  'email',
  'sms',
  'whatsapp',
  'letter',
  'booking',
  'booking_attended',
])

/** The timeline of somebody who is no lead: no application sees it in its feeds, and it sets no deadline. */
export const recordActivityBeforeLead = (
  act: RecordActivity,
  state: BeforeLead | undefined,
  { by, campaign = null }: Circumstances,
): Decision =>
  state?.seen_activities.includes(act.activity_id)
    ? []
    : [
        {
          type: 'LeadActivityRecorded',
          seen_by: [],
          campaign,
          by,
          ...activityOf(act),
          touches: !withoutContact.has(act.kind),
          is_first_contact: false,
          dormant_at: null,
        },
      ]

const activityOf = ({
  activity_id,
  kind,
  summary,
  channel = null,
  direction = null,
  related = null,
  happened_at,
}: RecordActivity) => ({ activity_id, kind, summary, channel, direction, related, happened_at })

/** An activity stands on the timeline once. Whatever the person does wakes a dormant lead up. */
export const recordActivity = (act: RecordActivity, state: LeadState, circumstances: Circumstances): Decision => {
  if (state.seen_activities.includes(act.activity_id)) return []
  const { record } = state
  const { kind, direction, happened_at } = act
  const touches = !withoutContact.has(kind)
  const isContact = firstContacts.has(kind) && direction !== 'inbound'
  const activity: LeadEvent = {
    type: 'LeadActivityRecorded',
    ...aboutOf(state, circumstances),
    ...activityOf(act),
    touches,
    is_first_contact: isContact && record.first_contacted_at === null,
    dormant_at: dormantAfter(touches, happened_at, record, circumstances),
  }
  const isFromPerson = touches && direction !== 'outbound' && !isContact
  return [activity, ...(isFromPerson ? wakeUp(state, circumstances) : [])]
}

const dormantAfter = (
  touches: boolean,
  happened_at: string,
  { shown, dormant_at }: LeadState['record'],
  { pipeline }: Circumstances,
): string | null => {
  if (shown.status !== 'open' || !touches) return dormant_at
  const after = dormantAt(happened_at, pipeline)
  return after === null || (dormant_at !== null && dormant_at > after) ? dormant_at : after
}
