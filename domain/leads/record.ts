import type { Recorded } from '../decider.ts'
import { z } from 'zod'
import { ApiApplicationId, Channel, CustomerId, OrganisationId } from '../values.ts'
import {
  CampaignRef,
  Facts,
  Grade,
  LeadShown,
  LeadStatus,
  Marks,
  NextAction,
  TpsStatus,
  TpsTrouble,
  type LeadEvent,
} from './events.ts'

const Instant = z.iso.datetime()

export const Task = z.object({
  id: z.uuid(),
  title: z.string(),
  due_at: Instant.nullable(),
  completed_at: Instant.nullable(),
})
export type Task = z.infer<typeof Task>

/** A lead as the organisation's team knows it. */
export const LeadRecord = z
  .object({
    contact_id: CustomerId,
    organisation_id: OrganisationId,
    /** The API applications that have sent it, the first one first. */
    senders: z.array(ApiApplicationId),
    source: z.string(),
    source_reference: z.string().nullable(),
    campaign: CampaignRef.nullable(),
    shown: LeadShown,
    marks: Marks,
    grade: Grade,
    owner_id: z.uuid().nullable(),
    outcome_reason: z.string().nullable(),
    vulnerable: z.boolean(),
    facts: Facts,
    /** Values that differ from those held, the latest of each key. */
    proposed: Facts,
    next_action: NextAction.nullable(),
    next_action_overdue: z.boolean(),
    tasks: z.array(Task),
    snoozed_until: Instant.nullable(),
    tps: z
      .object({ status: TpsStatus, phone_number: z.string().nullable(), screened_at: Instant, expires_at: Instant })
      .nullable(),
    /** The next screening of the number, and why it could not be screened so far; null: none. */
    tps_planned: z.object({ due_at: Instant, failed_tries: z.int(), trouble: TpsTrouble.nullable() }).nullable(),
    first_contact_due_at: Instant.nullable(),
    first_contacted_at: Instant.nullable(),
    first_contact_overdue: z.boolean(),
    dormant_at: Instant.nullable(),
    /** The number of activities of each kind. */
    activities: z.record(z.string(), z.int()),
    updated_at: Instant,
  })
  .meta({ id: 'LeadRecord' })
export type LeadRecord = z.infer<typeof LeadRecord>

/** A lead's entry in the list of an application, after an event. */
export const evolveShown = (
  shown: LeadShown | undefined,
  event: LeadEvent,
  { occurred_at }: Recorded,
): LeadShown | undefined => {
  if (event.type === 'LeadCreated')
    return {
      status: 'open',
      stage: event.stage,
      stage_entered_at: occurred_at,
      owner_assigned: false,
      score: event.score,
      campaign_id: event.campaign?.id ?? null,
      first_touched_at: null,
      last_touched_at: null,
      created_at: occurred_at,
    }
  if (event.type === 'LeadSentAgain') return shown ?? event.shown ?? undefined
  if (!shown) return undefined

  switch (event.type) {
    case 'LeadStageChanged':
      return { ...shown, stage: event.to, stage_entered_at: occurred_at }
    case 'LeadOwnerAssigned':
      return { ...shown, owner_assigned: event.to !== null }
    case 'LeadStatusChanged':
      return { ...shown, status: event.to }
    case 'LeadScored':
      return { ...shown, score: event.score }
    case 'LeadActivityRecorded':
      return event.touches
        ? {
            ...shown,
            first_touched_at: earliest(shown.first_touched_at, event.happened_at),
            last_touched_at: latest(shown.last_touched_at, event.happened_at),
          }
        : shown
    case 'LeadFactsRecorded':
    case 'LeadFactsProposed':
    case 'LeadProposalsSettled':
    case 'LeadOutcomeReasonSet':
    case 'LeadVulnerabilityFlagged':
    case 'LeadNextActionSet':
    case 'LeadNextActionFellDue':
    case 'LeadFirstContactOverdue':
    case 'LeadTpsScreened':
    case 'LeadTpsScreeningPlanned':
    case 'LeadTaskAdded':
    case 'LeadTaskCompleted':
    case 'LeadSnoozed':
    case 'LeadSnoozeEnded':
    case 'LeadMarked':
    case 'LeadRunByHand':
    case 'ContactDetailsChanged':
      return shown
  }
}

const earliest = (one: string | null, other: string): string => (one !== null && one < other ? one : other)
const latest = (one: string | null, other: string): string => (one !== null && one > other ? one : other)

/** A lead keeps this many tasks that are done, the latest; and each that is not. */
const doneTasksKept = 100

const keptTasks = (tasks: readonly Task[]): Task[] => {
  let surplus = tasks.filter(({ completed_at }) => completed_at !== null).length - doneTasksKept
  return tasks.filter(({ completed_at }) => completed_at === null || surplus-- <= 0)
}

/** The lead after an event, for the command side and the read model alike. */
export const evolveLead = (
  lead: LeadRecord | undefined,
  event: LeadEvent,
  recorded: Recorded,
): LeadRecord | undefined => {
  const shown = evolveShown(lead?.shown, event, recorded)
  if (event.type === 'LeadCreated' && shown)
    return {
      contact_id: event.contact_id,
      organisation_id: event.organisation_id,
      senders: event.seen_by,
      source: event.source,
      source_reference: event.source_reference,
      campaign: event.campaign,
      shown,
      marks: {
        buying_signal: null,
        follow_up: false,
        priority: 'normal',
        archived: false,
        external_system_id: event.external_system_id,
      },
      grade: event.grade,
      owner_id: null,
      outcome_reason: null,
      vulnerable: false,
      facts: {},
      proposed: {},
      next_action: null,
      next_action_overdue: false,
      tasks: [],
      snoozed_until: null,
      tps: null,
      tps_planned: null,
      first_contact_due_at: event.first_contact_due_at,
      first_contacted_at: null,
      first_contact_overdue: false,
      dormant_at: event.dormant_at,
      activities: {},
      updated_at: recorded.occurred_at,
    }
  return lead && shown && { ...lead, ...change(lead, event, recorded), shown, updated_at: recorded.occurred_at }
}

const without = <Value>(values: Readonly<Record<string, Value>>, keys: readonly string[]): Record<string, Value> =>
  Object.fromEntries(Object.entries(values).filter(([key]) => !keys.includes(key)))

const change = (lead: LeadRecord, event: LeadEvent, { occurred_at }: Recorded): Partial<LeadRecord> => {
  switch (event.type) {
    case 'LeadCreated':
      return {}
    case 'LeadSentAgain': {
      const external_system_id = lead.marks.external_system_id ?? event.external_system_id
      return { senders: event.seen_by, marks: { ...lead.marks, external_system_id } }
    }
    case 'LeadFactsRecorded':
      return { facts: { ...lead.facts, ...event.facts }, proposed: without(lead.proposed, event.keys) }
    case 'LeadFactsProposed':
      return { proposed: { ...lead.proposed, ...event.proposed } }
    case 'LeadProposalsSettled':
      return { proposed: without(lead.proposed, event.keys) }
    case 'LeadOwnerAssigned':
      return { owner_id: event.to }
    case 'LeadStatusChanged':
      return {
        dormant_at: event.dormant_at,
        outcome_reason: event.reason,
        ...(isTerminal(event.to) && { tps_planned: null }),
      }
    case 'LeadOutcomeReasonSet':
      return { outcome_reason: event.reason }
    case 'LeadVulnerabilityFlagged':
      return { vulnerable: event.flagged }
    case 'LeadNextActionSet':
      return { next_action: event.next_action, next_action_overdue: false }
    case 'LeadNextActionFellDue':
      return { next_action_overdue: true }
    case 'LeadFirstContactOverdue':
      return { first_contact_overdue: true, first_contact_due_at: null }
    case 'LeadScored':
      return { grade: event.grade }
    case 'LeadTpsScreened': {
      const { status, phone_number, screened_at, expires_at } = event
      // Without a number that can be on a list there is nothing to screen again.
      const tps_planned = status === 'not_applicable' ? null : { due_at: expires_at, failed_tries: 0, trouble: null }
      return { tps: { status, phone_number, screened_at, expires_at }, tps_planned }
    }
    case 'LeadTpsScreeningPlanned': {
      const { due_at, failed_tries, trouble } = event
      return { tps_planned: due_at === null ? null : { due_at, failed_tries, trouble } }
    }
    case 'LeadTaskAdded': {
      const { task_id: id, title, due_at } = event
      return { tasks: keptTasks([...lead.tasks, { id, title, due_at, completed_at: null }]) }
    }
    case 'LeadTaskCompleted': {
      const done = (task: Task): Task => (task.id === event.task_id ? { ...task, completed_at: occurred_at } : task)
      return { tasks: lead.tasks.map(done) }
    }
    case 'LeadSnoozed':
      return { snoozed_until: event.snoozed_until }
    case 'LeadSnoozeEnded':
      return { snoozed_until: null }
    case 'LeadMarked':
      // JSON holds nothing undefined, which the type of the event allows.
      return { marks: { ...lead.marks, ...(event.marks as Partial<Marks>) } }
    case 'LeadActivityRecorded':
      return {
        activities: { ...lead.activities, [event.kind]: (lead.activities[event.kind] ?? 0) + 1 },
        dormant_at: event.dormant_at,
        ...(event.is_first_contact && { first_contacted_at: event.happened_at, first_contact_due_at: null }),
      }
    case 'LeadStageChanged':
    case 'LeadRunByHand':
    case 'ContactDetailsChanged':
      return {}
  }
}

/** Won, lost or ruled out. */
export const isTerminal = (status: LeadStatus): boolean => status !== 'open' && status !== 'dormant'

/** When something is to be done for a lead next, and not while it is snoozed; null: nothing is planned, or it is final. */
export const nextDue = ({ shown, marks, snoozed_until, tasks, ...lead }: LeadRecord): string | null => {
  if (isTerminal(shown.status) || marks.archived) return null
  const firstContact = lead.first_contacted_at === null ? lead.first_contact_due_at : null
  const open = tasks.filter(({ completed_at }) => completed_at === null).map(({ due_at }) => due_at)
  const [first] = [lead.next_action?.due_at ?? null, firstContact, ...open].filter((due) => due !== null).toSorted()
  return first === undefined ? null : latest(snoozed_until, first)
}

/** Permission to approach a lead with the firm's own marketing over a channel, and the reason. */
export const MarketingPermission = z.object({
  channel: Channel,
  allowed: z.boolean(),
  reason: z.enum([
    'granted',
    'refused',
    'withdrawn',
    'no_consent',
    'no_objection',
    'on_tps',
    'not_on_tps',
    'not_screened',
  ]),
})
export type MarketingPermission = z.infer<typeof MarketingPermission>

/** A number's status on the lists; null for one that was not screened, or no longer holds. Those abroad are never on them. */
export const listedAs = (tps: LeadRecord['tps'], phone_number: string | null, now: string): TpsStatus | null => {
  if (tps?.phone_number !== phone_number) return null
  return tps.status === 'not_applicable' || tps.expires_at > now ? tps.status : null
}

type Said = { readonly purpose: string; readonly channel: string; readonly state: 'granted' | 'refused' | 'withdrawn' }

/**
 * The person's own answer holds. Where nobody asked, writing by email or message takes consent, a letter takes none, and a
 * call takes a number that is on neither list (PECR, regulations 21 and 22).
 */
export const marketingPermissions = (consent: readonly Said[], tps: TpsStatus | null): MarketingPermission[] =>
  Channel.options.map((channel) => {
    const said = consent.find((each) => each.purpose === 'first_party_marketing' && each.channel === channel)
    if (said) return { channel, allowed: said.state === 'granted', reason: said.state }
    if (channel === 'post') return { channel, allowed: true, reason: 'no_objection' }
    if (channel !== 'phone') return { channel, allowed: false, reason: 'no_consent' }
    if (tps === null) return { channel, allowed: false, reason: 'not_screened' }
    const isListed = tps === 'registered'
    return { channel, allowed: !isListed, reason: isListed ? 'on_tps' : 'not_on_tps' }
  })
