import { z } from 'zod'
import { CampaignKey, ConsentPurpose } from '#domain/campaigns/events.ts'
import { Goal, LocalTime, OutreachChannel, Schedule, StreamKind, type StreamChoices } from '#domain/outreach/events.ts'
import { CalendarDate, Slug } from '#domain/values.ts'

const text = (most: number) => z.string().trim().min(1).max(most)
const subject = text(200).nullable().default(null)
const body = text(8_000).describe('What it says; in a stream of drafted messages, what the writer is to say.')

const StreamText = z.strictObject({ after_days: z.int().min(0).max(365).default(0), subject, body })
const FollowUp = z.strictObject({ subject, body })
const DeclaredSurvey = z.strictObject({
  question: text(500),
  question_key: z.string().regex(/^[a-z0-9_.-]{1,64}$/),
  answer_type: z.enum(['nps', 'rating', 'yes_no', 'text']),
  follow_up_question: text(500).nullable().default(null),
})

/** The settings of an outreach stream. */
export const chosen = {
  name: text(200),
  purpose: ConsentPurpose.describe('Consent for it is checked as people join and as each message is sent.'),
  goal: Goal,
  channels: z.array(OutreachChannel).max(3).describe('In order of preference.'),
  all_channels: z.boolean().describe('Messages go by every channel rather than by the first that reaches.'),
  follow_up_after_days: z.int().min(0).max(365).describe('0: none.'),
  auto_send: z.boolean().describe('false: each message waits until it is approved.'),
  pace_per_hour: z.int().min(1).max(1_000_000).nullable().describe('The most messages in any hour.'),
  message_mode: z.enum(['drafted', 'fixed']),
  from_name: text(100).nullable(),
  reply_email_template_key: text(100).nullable(),
  reply_email_template_id: z.uuid().toLowerCase().nullable(),
  date_column: text(64).nullable().describe('Of a reminder: the column with its date, in what is sent with people.'),
  date_field: text(64).nullable().describe('Of a reminder: the fact of the lead with its date.'),
  offset_days: z.int().min(-3650).max(3650).nullable().describe('Of a reminder; negative: before the date.'),
  send_at_local_time: LocalTime.nullable().describe('In the organisation’s time zone.'),
  schedule: Schedule.nullable().describe('When issues of a newsletter go out. Weekdays count from 1, Monday.'),
  skip_if_unchanged: z
    .boolean()
    .nullable()
    .describe('Of a newsletter: an issue that says what the last one said is left out.'),
  survey: DeclaredSurvey.nullable(),
  cost_ceiling_pence: z.int().min(0).max(1_000_000_000).describe('What its drafts may cost: then the stream stops.'),
  texts: z.array(StreamText).max(20),
  follow_up: FollowUp.nullable(),
  landing_url: z.string().trim().max(500).nullable().describe('The page that messages link to.'),
  campaigns: z.array(CampaignKey).max(100).describe('Leads of these campaigns join by themselves.'),
}

/** A stream of a set-up file, or of a request that creates one. */
export const DeclaredStream = z.object({
  slug: Slug,
  kind: StreamKind,
  name: chosen.name,
  purpose: chosen.purpose,
  goal: chosen.goal.default('other'),
  channels: chosen.channels.default(['email']),
  all_channels: chosen.all_channels.default(false),
  follow_up_after_days: chosen.follow_up_after_days.default(0),
  auto_send: chosen.auto_send.default(false),
  pace_per_hour: chosen.pace_per_hour.default(null),
  message_mode: chosen.message_mode.default('fixed'),
  from_name: chosen.from_name.default(null),
  reply_email_template_key: chosen.reply_email_template_key.default(null),
  reply_email_template_id: chosen.reply_email_template_id.default(null),
  date_column: chosen.date_column.default(null),
  date_field: chosen.date_field.default(null),
  offset_days: chosen.offset_days.default(null),
  send_at_local_time: chosen.send_at_local_time.default(null),
  schedule: chosen.schedule.default(null),
  skip_if_unchanged: chosen.skip_if_unchanged.default(null),
  survey: chosen.survey.default(null),
  cost_ceiling_pence: chosen.cost_ceiling_pence.default(0),
  texts: chosen.texts,
  follow_up: chosen.follow_up.default(null),
  landing_url: chosen.landing_url.default(null),
  campaigns: chosen.campaigns.default([]),
})
export type DeclaredStream = z.output<typeof DeclaredStream>

export const DeclaredRate = z.strictObject({
  day: CalendarDate,
  usd_rate: z
    .string()
    .regex(/^\d{1,6}(\.\d{1,8})?$/, 'must be a decimal above zero, such as 0.7912')
    .refine((rate) => Number(rate) > 0, 'must be above zero')
    .meta({ pattern: String.raw`^([1-9][0-9]{0,5}(\.[0-9]{1,8})?|0\.[0-9]{0,7}[1-9])$` })
    .describe('So much of the organisation’s currency for a US dollar from this day on.'),
})

const usd = (what: string) =>
  z.number().min(0).max(10_000).describe(`What a million tokens that the writer ${what} cost, in US dollars.`)

/** The price of drafts: for an account with a writer of the organisation's own. */
export const DeclaredPrice = z.strictObject({
  input_usd: usd('reads'),
  output_usd: usd('writes'),
})

export const priceOf = ({ input_usd, output_usd }: z.output<typeof DeclaredPrice>) => ({
  input_usd_micros: Math.round(input_usd * 1_000_000),
  output_usd_micros: Math.round(output_usd * 1_000_000),
})

export const writtenPrice = ({
  input_usd_micros,
  output_usd_micros,
}: ReturnType<typeof priceOf>): z.input<typeof DeclaredPrice> => ({
  input_usd: input_usd_micros / 1_000_000,
  output_usd: output_usd_micros / 1_000_000,
})

/** The settings for all streams of an organisation. */
export const DeclaredOutreach = z.strictObject({
  on: z.boolean().describe('Whether the organisation has outreach streams at all.'),
  writer_price: DeclaredPrice.optional(),
  exchange_rates: z.array(DeclaredRate).max(400).default([]),
})

/** A newsletter says whether unchanged issues are left out: false unless it is chosen. */
export const withDefaults = (kind: DeclaredStream['kind'], choices: StreamChoices): StreamChoices =>
  kind === 'newsletter' ? { ...choices, skip_if_unchanged: choices.skip_if_unchanged ?? false } : choices
