import { z } from 'zod'
import type { OneLeadCommand } from '#domain/leads/commands.ts'
import {
  ActivityChannel,
  ActivityKind,
  BuyingSignal,
  Direction,
  Facts,
  LeadStatus,
  Priority,
  type FactValue,
} from '#domain/leads/events.ts'
import { Key, type CustomField, type Pipeline } from '#domain/pipeline/events.ts'
import { Rejection } from '#domain/rejection.ts'
import { findableText } from '#domain/invisible-characters.ts'
import { SentInstant } from '#domain/values.ts'
import { newId } from '#infra/ids.ts'
import { noDate } from '#domain/reasons.ts'

const text = (most: number) => z.string().trim().min(1).max(most)
const Id = z.uuid().toLowerCase()

/** The team's acts upon a lead. */
export const LeadAct = z.discriminatedUnion('act', [
  z.object({ act: z.literal('move_to_stage'), stage: Key }),
  z.object({ act: z.literal('change_status'), status: LeadStatus, reason: text(200).nullish() }),
  z.object({
    act: z.literal('assign_owner'),
    owner_id: Id.nullable().describe('A member of the team; null: nobody.'),
    from_owner_id: Id.nullable()
      .optional()
      .describe('Whoever was seen to work it, null: nobody. Where it is somebody else by now, nothing is done (409).'),
  }),
  z.object({ act: z.literal('set_outcome_reason'), reason: text(200).nullable(), note: text(500).nullish() }),
  z.object({ act: z.literal('record_facts'), facts: Facts.describe('By key; those of custom fields in their type.') }),
  z.object({
    act: z.literal('settle_proposals'),
    accept: z.array(Key).max(200).default([]),
    dismiss: z.array(Key).max(200).default([]),
  }),
  z.object({
    act: z.literal('record_activity'),
    activity_id: Id.optional().describe('Of the caller’s making: the same one is recorded once.'),
    kind: ActivityKind,
    summary: text(1000),
    channel: ActivityChannel.nullish(),
    direction: Direction.nullish(),
    related: z.object({ type: Key, id: Id }).nullish(),
    happened_at: SentInstant.optional().describe('Now by default. At most 24 hours ahead.'),
  }),
  z.object({ act: z.literal('flag_vulnerability'), flagged: z.boolean(), details: text(2000).nullish() }),
  z.object({
    act: z.literal('set_next_action'),
    next_action: z.object({ type: Key, summary: text(500).nullable(), due_at: SentInstant }).nullable(),
  }),
  z.object({
    act: z.literal('add_task'),
    task_id: Id.optional().describe('Of the caller’s making: the same one is added once.'),
    title: text(500),
    due_at: SentInstant.nullish(),
  }),
  z.object({ act: z.literal('complete_task'), task_id: Id }),
  z.object({ act: z.literal('snooze'), until: SentInstant }),
  z.object({ act: z.literal('end_snooze') }),
  z.object({
    act: z.literal('mark'),
    buying_signal: BuyingSignal.nullable().optional().describe('How much the person has shown of wanting to buy.'),
    follow_up: z.boolean().optional().describe('The team has promised to come back to the person.'),
    priority: Priority.optional(),
    archived: z.boolean().optional().describe('Out of the team’s sight; the feeds still show it.'),
    external_system_id: z
      .string()
      .overwrite(findableText)
      .min(1)
      .max(200)
      .nullable()
      .optional()
      .describe('Its id in the organisation’s own CRM.'),
  }),
])
type LeadAct = z.output<typeof LeadAct>

/** The command that an act asks for. */
export const commandOf = (act: LeadAct, pipeline: Pipeline, now: string): OneLeadCommand => {
  switch (act.act) {
    case 'move_to_stage':
      return { type: 'MoveToStage', stage: act.stage }
    case 'change_status':
      return { type: 'ChangeStatus', status: act.status, reason: act.reason ?? null }
    case 'assign_owner':
      return { type: 'AssignOwner', owner_id: act.owner_id, seen_owner_id: act.from_owner_id }
    case 'set_outcome_reason':
      return { type: 'SetOutcomeReason', reason: act.reason, note: act.note ?? null }
    case 'record_facts':
      return { type: 'RecordFacts', facts: checkedFacts(act.facts, pipeline), ingest_id: null, mode: 'store' }
    case 'settle_proposals':
      return { type: 'SettleProposals', accept: act.accept, dismiss: act.dismiss }
    case 'record_activity':
      return {
        type: 'RecordActivity',
        activity_id: act.activity_id ?? newId(),
        kind: act.kind,
        summary: act.summary,
        channel: act.channel ?? null,
        direction: act.direction ?? null,
        related: act.related ?? null,
        happened_at: checkedTime(act.happened_at ?? now, now),
      }
    case 'flag_vulnerability':
      return { type: 'FlagVulnerability', flagged: act.flagged, details: act.details ?? null }
    case 'set_next_action':
      return { type: 'SetNextAction', next_action: act.next_action }
    case 'add_task':
      return { type: 'AddTask', task_id: act.task_id ?? newId(), title: act.title, due_at: act.due_at ?? null }
    case 'complete_task':
      return { type: 'CompleteTask', task_id: act.task_id }
    case 'snooze':
      return { type: 'Snooze', until: act.until }
    case 'end_snooze':
      return { type: 'EndSnooze' }
    case 'mark': {
      const { act: _act, ...marks } = act
      const given = Object.entries(marks).filter(([, value]) => (value as unknown) !== undefined)
      return { type: 'Mark', marks: Object.fromEntries(given) }
    }
  }
}

const dayMs = 86_400_000

/** An activity that lies ahead, as of a mistyped year, would keep the lead from falling dormant until then. */
const checkedTime = (happened_at: string, now: string): string => {
  if (Date.parse(happened_at) <= Date.parse(now) + dayMs) return happened_at
  throw new Rejection('validation_failed', 'Correct happened_at and send the request again.', {
    happened_at: 'must not be more than 24 hours ahead: what is to come is a task or the next action',
  })
}

const checkedFacts = (facts: Facts, { custom_fields }: Pipeline): Facts => {
  const wrong = Object.entries(facts).flatMap(([key, value]) => {
    const field = custom_fields.find((each) => each.key === key)
    const fault = field && factFault(field, value)
    return fault ? [[`facts.${key}`, fault] as const] : []
  })
  if (wrong.length === 0) return facts
  const named = wrong.map(([key]) => key).join(', ')
  throw new Rejection('validation_failed', `Correct ${named} and send the request again.`, Object.fromEntries(wrong))
}

/** The reason why a value does not fit a custom field; undefined when it does. */
const factFault = ({ type, options }: CustomField, value: FactValue): string | undefined => {
  const choices = () => `must be one of ${options.join(', ')}`
  switch (type) {
    case 'text':
      return typeof value === 'string' ? undefined : 'must be text'
    case 'number':
      return typeof value === 'number' ? undefined : 'must be a number'
    case 'money':
      return typeof value === 'number' && Number.isSafeInteger(value) ? undefined : 'must be whole pence'
    case 'date':
      return z.iso.date().safeParse(value).success ? undefined : noDate(value)
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'must be true or false'
    case 'choice':
      return typeof value === 'string' && options.includes(value) ? undefined : choices()
    case 'choices':
      return Array.isArray(value) && value.every((each) => options.includes(String(each))) ? undefined : choices()
  }
}
