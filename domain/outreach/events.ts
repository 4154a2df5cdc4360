import { z } from 'zod'
import { CampaignKey, ConsentPurpose } from '../campaigns/events.ts'
import { event, personal, type EventOf, type Json } from '../event.ts'
import { CalendarDate, CustomerId, OrganisationId, OutreachStreamId, Slug } from '../values.ts'

export const StreamKind = z.enum(['conversation', 'sequence', 'mailshot', 'reminder', 'newsletter', 'survey'])
export const Goal = z.enum(['bookings', 'sales', 'engagement', 'other'])

/** The channels that messages go by. */
export const OutreachChannel = z.enum(['email', 'sms', 'whatsapp'])
export type OutreachChannel = z.infer<typeof OutreachChannel>

/** `HH:MM`. */
export const LocalTime = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time, as HH:MM')

const weekday = z.int().min(1).max(7)

/** The schedule of a newsletter's issues. Weekdays count from 1, Monday. */
export const Schedule = z.union([
  z.object({ cadence: z.enum(['weekly', 'fortnightly']), weekday, starts_on: CalendarDate }),
  z.object({
    cadence: z.literal('monthly'),
    day: z.union([z.int().min(1).max(31), z.literal('last')]),
    starts_on: CalendarDate,
  }),
  z.object({
    cadence: z.literal('monthly'),
    week: z.enum(['first', 'second', 'third', 'fourth', 'last']),
    weekday,
    starts_on: CalendarDate,
  }),
])
export type Schedule = z.infer<typeof Schedule>

export const Survey = z.object({
  question: z.string(),
  question_key: z.string(),
  answer_type: z.enum(['nps', 'rating', 'yes_no', 'text']),
  follow_up_question: z.string().nullable(),
})
export type Survey = z.infer<typeof Survey>

/** The text of a message; where messages are drafted, instructions for the writer. */
export const StreamText = z.object({
  /** Of the texts of a sequence: so long after the one before. */
  after_days: z.int().min(0),
  subject: z.string().nullable(),
  body: z.string(),
})
export type StreamText = z.infer<typeof StreamText>

export const StreamChoices = z.object({
  name: z.string(),
  purpose: ConsentPurpose,
  goal: Goal,
  /** In order of preference. */
  channels: z.array(OutreachChannel),
  all_channels: z.boolean(),
  follow_up_after_days: z.int().min(0),
  auto_send: z.boolean(),
  pace_per_hour: z.int().min(1).nullable(),
  message_mode: z.enum(['drafted', 'fixed']),
  from_name: z.string().nullable(),
  reply_email_template_key: z.string().nullable(),
  reply_email_template_id: z.uuid().nullable(),
  date_column: z.string().nullable(),
  date_field: z.string().nullable(),
  offset_days: z.int().nullable(),
  send_at_local_time: LocalTime.nullable(),
  schedule: Schedule.nullable(),
  skip_if_unchanged: z.boolean().nullable(),
  survey: Survey.nullable(),
  cost_ceiling_pence: z.int().min(0),
  /** The first, and of a sequence those after it. */
  texts: z.array(StreamText),
  follow_up: z.object({ subject: z.string().nullable(), body: z.string() }).nullable(),
  /** The firm's page that messages link to; the link is followed by its token. */
  landing_url: z.string().nullable(),
  /** Leads of these campaigns join by themselves. */
  campaigns: z.array(CampaignKey),
})
export type StreamChoices = Readonly<z.infer<typeof StreamChoices>>

/** Millionths of a dollar, and of a penny at the rate of that day. */
export const DraftCost = z.object({
  usd_micros: z.int().min(0),
  /** The organisation's currency for a dollar, as a decimal. */
  usd_rate: z.string(),
  rate_day: CalendarDate.nullable(),
  micro_pence: z.int().min(0),
  model: z.string(),
})
export type DraftCost = z.infer<typeof DraftCost>
const nothing: DraftCost = { usd_micros: 0, usd_rate: '1', rate_day: null, micro_pence: 0, model: '' }

const callOfMessage = (v1: Json): Json => ({ ...v1, call_id: v1['message_id'] })

/** When the next issue of a newsletter goes out. */
const next_issue_at = z.iso.datetime().nullable()
const stream_id = OutreachStreamId

/** Stream `outreach-<outreach stream id>`. */
export const outreachEvents = {
  OutreachStreamCreated: event({
    stream_id,
    organisation_id: OrganisationId,
    slug: Slug,
    kind: StreamKind,
    choices: StreamChoices,
  }),
  OutreachStreamChanged: event({ choices: StreamChoices, next_issue_at }),
  /** The reminders of its people are due at other times from now on. */
  OutreachRemindersToMove: event({ stream_id, timing: z.int().min(1) }),
  /** Everybody's reminder has been moved. */
  OutreachRemindersMoved: event({ stream_id, timing: z.int().min(1) }),
  OutreachStreamStarted: event({ stream_id, next_issue_at }),
  OutreachStreamPaused: event({ stream_id }),
  OutreachStreamResumed: event({ stream_id, next_issue_at }),
  /** Nobody joins any more; those in it carry on. */
  OutreachStreamClosed: event({ stream_id }),
  OutreachStreamReopened: event({ stream_id, next_issue_at }),
  OutreachStreamArchived: event({ stream_id }),
  /** Nothing more is sent to those who are in it by now. */
  OutreachWorkCancelled: event({ stream_id }),
  /** Permits to send messages, at once: the pace is decided here. */
  OutreachSendsPermitted: event({ permits: z.array(z.object({ message_id: z.uuid(), messages: z.int().min(1) })) }),
  /**
   * The writer may be asked for these drafts; each call may cost so much. `asked_at` is in real time, since a call takes
   * seconds however business time is moved; unknown before version 3. Before version 2 calls had no ids.
   */
  OutreachDraftsReserved: event(
    {
      drafts: z.array(z.object({ call_id: z.uuid(), message_id: z.uuid(), contact_id: CustomerId })),
      most: DraftCost,
      asked_at: z.iso.datetime().nullable(),
    },
    { upcasts: [() => ({ drafts: [], most: nothing }), (data) => ({ ...data, asked_at: null })] },
  ),
  /** A reserved draft was not asked for, or cost nothing. */
  OutreachDraftReleased: event({ call_id: z.uuid(), message_id: z.uuid() }, { upcasts: [callOfMessage] }),
  /** The cost of a writer's call; for one that nobody heard the end of, the most that it can have cost. */
  OutreachDraftCharged: event(
    { call_id: z.uuid(), message_id: z.uuid(), contact_id: CustomerId, ...DraftCost.shape },
    { upcasts: [callOfMessage] },
  ),
  OutreachBudgetExceeded: event({ total_micro_pence: z.int(), cost_ceiling_pence: z.int() }),
  /** With its texts. */
  NewsletterIssueReleased: event({ stream_id, issue: z.int().min(1), texts: z.array(StreamText), next_issue_at }),
  /** The content is that of the issue before. */
  NewsletterIssueSkipped: event({ stream_id, next_issue_at }),
  /** Every subscriber has been given the issue. */
  NewsletterIssueHandedOut: event({ stream_id, issue: z.int().min(1) }),
}
export type OutreachEvent = EventOf<typeof outreachEvents>

/** Settings for all streams of an organisation. Stream `outreach_settings-<organisation id>`. */
export const outreachSettingsEvents = {
  OutreachSwitched: event({ organisation_id: OrganisationId, is_on: z.boolean() }),
  /** The price of a million writer tokens, read and written, in millionths of a dollar. */
  WriterPriced: event({
    organisation_id: OrganisationId,
    input_usd_micros: z.int().min(0),
    output_usd_micros: z.int().min(0),
  }),
  /** The dollar's rate from this day on. */
  ExchangeRateRecorded: event({ organisation_id: OrganisationId, day: CalendarDate, usd_rate: z.string() }),
}
export type OutreachSettingsEvent = EventOf<typeof outreachSettingsEvents>

/** A message's role in a stream, for one person. */
export const MessageRole = z.enum(['text', 'follow_up', 'issue', 'answer'])
export const WaitsFor = z.enum(['draft', 'approval', 'sending'])
export const OutreachOutcome = z.enum(['replied', 'booked', 'applications', 'bound'])
export type OutreachOutcome = z.infer<typeof OutreachOutcome>

/** The cause of joining, with the id of the campaign or workflow. */
export const JoinedBy = z.object({ type: z.enum(['operator', 'campaign', 'workflow']), id: z.uuid().nullable() })
export type JoinedBy = z.infer<typeof JoinedBy>

const member = { stream_id, member_id: z.uuid() }
const message = { ...member, message_id: z.uuid() }
/** When the person is next due a message; null: not by time. */
const next_at = z.iso.datetime().nullable()
const written = { subject: personal(z.string()).nullable(), body: personal(z.string()).nullable() }

const own = { subject: (_data: unknown, contactId: string) => contactId }

/**
 * Stream `outreach_person-<contact id>`: everything between a person and the outreach streams they are in, so that what
 * they do can count for each of those.
 */
export const outreachPersonEvents = {
  OutreachJoined: event(
    {
      ...member,
      organisation_id: OrganisationId,
      contact_id: CustomerId,
      /** The person's columns in the list that they came by. */
      columns: personal(z.record(z.string(), z.string())),
      /** Of a newsletter: they get the issues after this one. */
      last_issue: z.int().min(0),
      subscribes: z.boolean(),
      next_at,
      by: JoinedBy,
      /** They were refused before. */
      was_refused: z.boolean(),
    },
    own,
  ),
  /** They cannot be sent anything: they are not in the stream. */
  OutreachJoinRefused: event(
    { ...member, organisation_id: OrganisationId, contact_id: CustomerId, reason: z.enum(['no_consent', 'no_date']) },
    own,
  ),
  OutreachRescheduled: event({ ...member, next_at }, own),
  OutreachMessageQueued: event(
    {
      ...message,
      role: MessageRole,
      /** The place among the texts, or the number of the issue or the answer. */
      number: z.int().min(0),
      waits_for: WaitsFor,
      /** Nothing was queued for the person before. */
      is_first: z.boolean(),
      ...written,
      /** The person's text, where this answers it. */
      answers: personal(z.string()).nullable(),
    },
    own,
  ),
  OutreachMessageDrafted: event({ ...message, waits_for: WaitsFor, is_first: z.boolean(), ...written }, own),
  OutreachDraftFailed: event({ ...message, reason: personal(z.string()), retry_at: z.iso.datetime().nullable() }, own),
  OutreachMessageEdited: event({ ...message, ...written }, own),
  OutreachMessageApproved: event({ ...message }, own),
  OutreachMessageDiscarded: event({ ...message, was_awaiting: z.boolean() }, own),
  OutreachSendingBegun: event({ ...message, channel: OutreachChannel }, own),
  OutreachMessageSent: event(
    {
      ...message,
      role: MessageRole,
      channel: OutreachChannel,
      /** The channel's own id of it. */
      reference: z.string().nullable(),
      /** No other channel follows. */
      is_last: z.boolean(),
      next_at,
    },
    own,
  ),
  /** With `retry_at` it is tried again over the same channel; without, over the next, if there is one. */
  OutreachSendingFailed: event(
    {
      ...message,
      channel: OutreachChannel,
      reason: personal(z.string()),
      retry_at: z.iso.datetime().nullable(),
      is_last: z.boolean(),
      /** It went by no channel. */
      is_errored: z.boolean(),
      next_at,
    },
    own,
  ),
  /** It was sent, and could not be delivered: nothing more goes to that address. */
  OutreachMessageUndelivered: event(
    {
      ...message,
      channel: OutreachChannel,
      address: personal(z.string()),
      reason: personal(z.string()).nullable(),
      /** It is sent over another channel. Before version 2 it never was. */
      goes_on: z.boolean(),
    },
    { ...own, upcasts: [(v1: Json): Json => ({ ...v1, goes_on: false })] },
  ),
  /** It is not sent at all. */
  OutreachMessageSkipped: event(
    {
      ...message,
      reason: z.enum(['no_consent', 'engaged', 'ended', 'cancelled']),
      is_person_skipped: z.boolean(),
      was_unwritten: z.boolean(),
    },
    own,
  ),
  /** They did what the stream is for, or came by its link: nothing follows that was to remind them. */
  OutreachEngaged: event({ ...member, by: z.enum(['landing', 'survey', 'activity']), next_at }, own),
  OutreachOutcomeCounted: event({ ...member, outcome: OutreachOutcome }, own),
  OutreachSurveyAnswered: event(
    {
      ...member,
      answer: personal(z.string()),
      follow_up_answer: personal(z.string()).nullable(),
      is_first: z.boolean(),
    },
    own,
  ),
  OutreachEnded: event(
    {
      ...member,
      reason: z.enum(['consent_withdrawn', 'cancelled', 'no_date']),
      was_subscribed: z.boolean(),
      /** Their messages that waited, and for what. */
      dropped: z.array(z.object({ message_id: z.uuid(), waits_for: WaitsFor })),
    },
    own,
  ),
}
export type OutreachPersonEvent = EventOf<typeof outreachPersonEvents>
