import type { z } from 'zod'
import { recordsFold } from '../records-fold.ts'
import type { OrganisationId, OutreachStreamId } from '../values.ts'
import {
  outreachEvents,
  outreachSettingsEvents,
  type OutreachEvent,
  type OutreachSettingsEvent,
  type StreamChoices,
  type StreamKind,
  type StreamText,
} from './events.ts'

/** An outreach stream as its events say it. */
export type OutreachStream = StreamChoices & {
  readonly id: OutreachStreamId
  readonly organisation_id: OrganisationId
  readonly slug: string
  readonly kind: z.infer<typeof StreamKind>
  readonly started_at: string | null
  readonly closed_at: string | null
  readonly paused_at: string | null
  readonly archived_at: string | null
  /** Nothing is sent any more to those who joined before. */
  readonly work_cancelled_at: string | null
  readonly next_issue_at: string | null
  /** The number of the last issue, and what it says. */
  readonly issue: number
  readonly issue_texts: readonly StreamText[] | null
  readonly issue_handed_out: number
  /** Times that its people's reminders had to be moved, and times that they were. */
  readonly timing: number
  readonly timing_moved: number
  /** In millionths of a penny. */
  readonly total_micro_pence: number
  readonly budget_exceeded: boolean
  readonly created_at: string
  readonly updated_at: string
}

export const evolveStream = (
  stream: OutreachStream | undefined,
  event: OutreachEvent,
  { occurred_at }: { readonly occurred_at: string },
): OutreachStream | undefined => {
  if (event.type === 'OutreachStreamCreated') {
    const { stream_id: id, organisation_id, slug, kind, choices } = event
    return {
      id,
      organisation_id,
      slug,
      kind,
      ...choices,
      started_at: null,
      closed_at: null,
      paused_at: null,
      archived_at: null,
      work_cancelled_at: null,
      next_issue_at: null,
      issue: 0,
      issue_texts: null,
      issue_handed_out: 0,
      timing: 0,
      timing_moved: 0,
      total_micro_pence: 0,
      budget_exceeded: false,
      created_at: occurred_at,
      updated_at: occurred_at,
    }
  }
  if (!stream) return undefined
  return { ...stream, ...changeOf(stream, event, occurred_at), updated_at: occurred_at }
}

const changeOf = (
  stream: OutreachStream,
  event: Exclude<OutreachEvent, { type: 'OutreachStreamCreated' }>,
  occurred_at: string,
): Partial<OutreachStream> => {
  switch (event.type) {
    case 'OutreachStreamChanged': {
      const { choices, next_issue_at } = event
      const { total_micro_pence } = stream
      return {
        ...choices,
        next_issue_at,
        budget_exceeded: isSpent(total_micro_pence, choices) && total_micro_pence > 0,
      }
    }
    case 'OutreachRemindersToMove':
      return { timing: event.timing }
    case 'OutreachRemindersMoved':
      return { timing_moved: event.timing }
    case 'OutreachStreamStarted':
      return { started_at: occurred_at, next_issue_at: event.next_issue_at }
    case 'OutreachStreamPaused':
      return { paused_at: occurred_at, next_issue_at: null }
    case 'OutreachStreamResumed':
      return { paused_at: null, next_issue_at: event.next_issue_at }
    case 'OutreachStreamClosed':
      return { closed_at: occurred_at }
    case 'OutreachStreamReopened':
      return { closed_at: null, next_issue_at: event.next_issue_at }
    case 'OutreachStreamArchived':
      return { archived_at: occurred_at, next_issue_at: null }
    case 'OutreachWorkCancelled':
      return { work_cancelled_at: occurred_at, issue_handed_out: stream.issue, next_issue_at: null }
    case 'OutreachSendsPermitted':
    case 'OutreachDraftsReserved':
    case 'OutreachDraftReleased':
      return {}
    case 'OutreachDraftCharged':
      return { total_micro_pence: stream.total_micro_pence + event.micro_pence }
    case 'OutreachBudgetExceeded':
      return { budget_exceeded: true }
    case 'NewsletterIssueReleased':
      return { issue: event.issue, issue_texts: event.texts, next_issue_at: event.next_issue_at }
    case 'NewsletterIssueSkipped':
      return { next_issue_at: event.next_issue_at }
    case 'NewsletterIssueHandedOut':
      return { issue_handed_out: event.issue }
  }
}

/** The ceiling is reached. */
export const isSpent = (totalMicroPence: number, { cost_ceiling_pence }: Pick<StreamChoices, 'cost_ceiling_pence'>) =>
  totalMicroPence >= cost_ceiling_pence * 1_000_000

/** People can join. */
export const isOpen = ({ started_at, closed_at, archived_at }: OutreachStream): boolean =>
  started_at !== null && closed_at === null && archived_at === null

/** Messages are drafted and sent. */
export const isWorking = ({ started_at, paused_at, archived_at, budget_exceeded }: OutreachStream): boolean =>
  started_at !== null && paused_at === null && archived_at === null && !budget_exceeded

const {
  OutreachSendsPermitted: _permitted,
  OutreachDraftsReserved: _reserved,
  OutreachDraftReleased: _released,
  ...settingEvents
} = outreachEvents

/** The streams of all organisations, for a process that keeps them in memory. */
export const outreachStreamsFold = recordsFold({
  name: 'outreach streams',
  version: 2,
  categories: ['outreach'],
  events: settingEvents,
  evolve: evolveStream,
})

/** The streams of an organisation, by slug. */
export const streamsOf = (
  streams: ReadonlyMap<string, OutreachStream>,
  organisation_id: OrganisationId,
): readonly OutreachStream[] =>
  [...streams.values()]
    .filter((each) => each.organisation_id === organisation_id)
    .toSorted((one, other) => one.slug.localeCompare(other.slug))

/** Settings for all streams of an organisation. */
export type OutreachSettings = {
  readonly is_on: boolean
  /** The price of a million writer tokens. */
  readonly writer_price: { readonly input_usd_micros: number; readonly output_usd_micros: number }
  /** In the order of their days. */
  readonly exchange_rates: readonly { readonly day: string; readonly usd_rate: string }[]
}

export const noSettings: OutreachSettings = {
  is_on: false,
  writer_price: { input_usd_micros: 0, output_usd_micros: 0 },
  exchange_rates: [],
}

/** Enough for a year of working days; the rates before are history. */
const ratesKept = 400

export const evolveSettings = (settings: OutreachSettings, event: OutreachSettingsEvent): OutreachSettings => {
  switch (event.type) {
    case 'OutreachSwitched':
      return { ...settings, is_on: event.is_on }
    case 'WriterPriced': {
      const { input_usd_micros, output_usd_micros } = event
      return { ...settings, writer_price: { input_usd_micros, output_usd_micros } }
    }
    case 'ExchangeRateRecorded': {
      const { day, usd_rate } = event
      const others = settings.exchange_rates.filter((each) => each.day !== day)
      const exchange_rates = [...others, { day, usd_rate }].toSorted((one, other) => (one.day < other.day ? -1 : 1))
      return { ...settings, exchange_rates: exchange_rates.slice(-ratesKept) }
    }
  }
}

/** The settings of all organisations, for a process that keeps them in memory. */
export const outreachSettingsFold = recordsFold({
  name: 'outreach settings',
  version: 2,
  categories: ['outreach_settings'],
  events: outreachSettingsEvents,
  evolve: (before: OutreachSettings | undefined, event) => evolveSettings(before ?? noSettings, event),
  keyOf: ({ organisation_id }) => organisation_id,
})
