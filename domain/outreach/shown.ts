import { z } from 'zod'
import { ConsentPurpose } from '../campaigns/events.ts'
import { CustomerId, OutreachStreamId } from '../values.ts'
import {
  Goal,
  LocalTime,
  MessageRole,
  OutreachChannel,
  OutreachOutcome,
  Schedule,
  StreamKind,
  Survey,
} from './events.ts'
import { penceOf } from './money.ts'
import { isOpen, type OutreachStream } from './stream-record.ts'

const count = z.int().min(0)

/** Sums over a stream's people and messages. */
export type StreamCounts = {
  readonly awaiting_approval: number
  readonly rows: number
  readonly analysed: number
  readonly skipped: number
  readonly sent: number
  readonly errored: number
  readonly issues_sent: number
  readonly subscribed: number
  readonly survey_answered: number
  readonly outcomes: {
    readonly replied: number
    readonly booked: number
    readonly applications: number
    readonly bound: number
  }
}

export const noCounts: StreamCounts = {
  awaiting_approval: 0,
  rows: 0,
  analysed: 0,
  skipped: 0,
  sent: 0,
  errored: 0,
  issues_sent: 0,
  subscribed: 0,
  survey_answered: 0,
  outcomes: { replied: 0, booked: 0, applications: 0, bound: 0 },
}

/** An outreach stream as the firm's servers see it. */
export const ShownStream = z
  .object({
    id: OutreachStreamId,
    name: z.string(),
    status: z
      .enum(['active', 'closed', 'cancelled'])
      .describe('closed: no new people; those in it carry on. cancelled: only on streams of long ago.'),
    archived_at: z.iso.datetime().nullable(),
    kind: StreamKind,
    purpose: ConsentPurpose.describe('Consent for it is checked as people join and as each message is sent.'),
    goal: Goal,
    channels: z.array(OutreachChannel).describe('In order of preference.'),
    all_channels: z.boolean().describe('Messages go by every channel rather than by the first that reaches.'),
    follow_up_after_days: z.int().describe('0: none.'),
    auto_send: z.boolean(),
    pace_per_hour: z.int().nullable().describe('The most messages in an hour.'),
    message_mode: z.enum(['drafted', 'fixed']),
    from_name: z.string().nullable(),
    reply_email_template_key: z.string().nullable(),
    reply_email_template_id: z.uuid().nullable(),
    date_column: z.string().nullable(),
    date_field: z.string().nullable(),
    offset_days: z.int().nullable().describe('Of a reminder; negative: before the date.'),
    send_at_local_time: LocalTime.nullable().describe('In the organisation’s time zone.'),
    schedule: Schedule.nullable(),
    next_issue_at: z.iso.datetime().nullable(),
    skip_if_unchanged: z.boolean().nullable(),
    issues_sent_count: count.nullable(),
    subscribed_count: count.nullable(),
    survey: Survey.nullable(),
    survey_answered_count: count.nullable(),
    awaiting_approval_count: count,
    rows_count: count.describe('People who were to join.'),
    analysed_count: count.describe('Those for whom the first message was written, or who were skipped.'),
    skipped_count: count.describe('Those who were sent nothing, for want of consent or of a date.'),
    sent_count: count.describe('Messages that were sent.'),
    errored_count: count.describe('Messages that could not be written or sent.'),
    outcomes: z
      .object({ replied: count, booked: count, applications: count, bound: count })
      .describe('People who did so after a message of the stream, each counted once.'),
    total_cost_pence: count,
    cost_ceiling_pence: count.describe('The stream stops when it is reached.'),
    budget_exceeded: z.boolean(),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'OutreachStream' })
export type ShownStream = z.infer<typeof ShownStream>

export const renderStream = (stream: OutreachStream, counts: StreamCounts): ShownStream => {
  const isNewsletter = stream.kind === 'newsletter'
  return {
    id: stream.id,
    name: stream.name,
    status: isOpen(stream) ? 'active' : 'closed',
    archived_at: stream.archived_at,
    kind: stream.kind,
    purpose: stream.purpose,
    goal: stream.goal,
    channels: stream.channels,
    all_channels: stream.all_channels,
    follow_up_after_days: stream.follow_up_after_days,
    auto_send: stream.auto_send,
    pace_per_hour: stream.pace_per_hour,
    message_mode: stream.message_mode,
    from_name: stream.from_name,
    reply_email_template_key: stream.reply_email_template_key,
    reply_email_template_id: stream.reply_email_template_id,
    date_column: stream.date_column,
    date_field: stream.date_field,
    offset_days: stream.offset_days,
    send_at_local_time: stream.send_at_local_time,
    schedule: stream.schedule,
    next_issue_at: stream.next_issue_at,
    skip_if_unchanged: stream.skip_if_unchanged,
    issues_sent_count: isNewsletter ? counts.issues_sent : null,
    subscribed_count: isNewsletter ? counts.subscribed : null,
    survey: stream.survey,
    survey_answered_count: stream.kind === 'survey' ? counts.survey_answered : null,
    awaiting_approval_count: counts.awaiting_approval,
    rows_count: counts.rows,
    analysed_count: counts.analysed,
    skipped_count: counts.skipped,
    sent_count: counts.sent,
    errored_count: counts.errored,
    outcomes: counts.outcomes,
    total_cost_pence: penceOf(stream.total_micro_pence),
    cost_ceiling_pence: stream.cost_ceiling_pence,
    budget_exceeded: stream.budget_exceeded,
    created_at: stream.created_at,
  }
}

/** A stream as the operator sees it. */
export const OperatedStream = ShownStream.extend({
  slug: z.string(),
  started_at: z.iso.datetime().nullable(),
  paused_at: z.iso.datetime().nullable(),
  work_cancelled_at: z.iso.datetime().nullable(),
  texts: z.array(z.object({ after_days: z.int(), subject: z.string().nullable(), body: z.string() })),
  follow_up: z.object({ subject: z.string().nullable(), body: z.string() }).nullable(),
  landing_url: z.string().nullable(),
  campaigns: z.array(z.string()),
}).meta({ id: 'OperatedOutreachStream' })

export const renderOperated = (stream: OutreachStream, counts: StreamCounts): z.infer<typeof OperatedStream> => {
  const { slug, started_at, paused_at, work_cancelled_at, texts, follow_up, landing_url, campaigns } = stream
  const own = { slug, started_at, paused_at, work_cancelled_at, texts, follow_up, landing_url, campaigns }
  return { ...renderStream(stream, counts), ...own }
}

/** A person of a stream, as the operator sees them. */
export const ShownMember = z
  .object({
    contact_id: CustomerId,
    state: z.enum(['in', 'refused', 'ended']),
    reason: z.string().nullable().describe('Why they are not in the stream, or not any more.'),
    joined_at: z.iso.datetime(),
    next_at: z.iso.datetime().nullable().describe('When they are due a message by time.'),
    sent_count: count,
    last_sent_at: z.iso.datetime().nullable(),
    engaged_at: z.iso.datetime().nullable(),
    outcomes: z.array(OutreachOutcome),
    survey_answer: z.string().nullable(),
    survey_follow_up_answer: z.string().nullable(),
  })
  .meta({ id: 'OutreachMember' })
export type ShownMember = z.infer<typeof ShownMember>

/** A message of a stream, as the operator sees it. */
export const ShownMessage = z
  .object({
    id: z.uuid(),
    contact_id: CustomerId,
    role: MessageRole,
    number: z.int(),
    state: z.enum(['drafting', 'awaiting_approval', 'to_send', 'sending', 'sent', 'errored', 'skipped', 'discarded']),
    subject: z.string().nullable(),
    body: z.string().nullable().describe('Null until it is written.'),
    answers: z.string().nullable().describe('What the person wrote, where this answers it.'),
    sent: z.array(z.object({ channel: OutreachChannel, sent_at: z.iso.datetime(), reference: z.string().nullable() })),
    reason: z.string().nullable().describe('Why it was not written or sent, the last time.'),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'OutreachMessage' })
export type ShownMessage = z.infer<typeof ShownMessage>

/** The cost of a writer's call. */
export const ShownCost = z
  .object({
    id: z.uuid(),
    message_id: z.uuid(),
    contact_id: CustomerId,
    model: z.string(),
    usd_micros: count.describe('In millionths of a US dollar.'),
    usd_rate: z.string().describe('So much of the organisation’s currency for a dollar, on that day.'),
    rate_day: z.iso.date().nullable().describe('The day of that rate; null when no rate was known.'),
    micro_pence: count.describe('In millionths of a penny.'),
    charged_at: z.iso.datetime(),
  })
  .meta({ id: 'OutreachCost' })
export type ShownCost = z.infer<typeof ShownCost>
