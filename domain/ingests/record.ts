import type { Recorded } from '../decider.ts'
import { z } from 'zod'
import { ApiApplicationId, CampaignId, CustomerId, IngestId, OrganisationId, Provenance } from '../values.ts'
import {
  DiscardReason,
  IngestStep,
  MatchedBy,
  RefusedDetail,
  ReviewReason,
  RuleFailure,
  Source,
  type IngestContent,
  type IngestEvent,
} from './events.ts'
import type { DetailName } from './field-names.ts'
import { sentFields } from './fields.ts'
import { CampaignKey } from '../campaigns/events.ts'
import { counted } from '../plural.ts'
import { phoneDigits } from '../phone-digits.ts'
import { findableText } from '../invisible-characters.ts'

export const IngestStatus = z.enum([
  'received',
  'resolving',
  'extracting',
  'applied',
  'needs_review',
  'deferred',
  'failed',
  'discarded',
  'held',
])
export type IngestStatus = z.infer<typeof IngestStatus>

const isAtRest: Readonly<Record<IngestStatus, boolean>> = {
  received: false,
  resolving: false,
  extracting: false,
  applied: false,
  needs_review: true,
  deferred: false,
  failed: true,
  discarded: true,
  held: true,
}

/** The statuses of an ingest that names a person whom nobody has recognised in it; one that is worked on still may. */
export const atRest: readonly IngestStatus[] = IngestStatus.options.filter((status) => isAtRest[status])

const Instant = z.iso.datetime()

/** A lead that was sent, as its events tell it; without what was sent of the person. */
export const IngestRecord = z.object({
  id: IngestId,
  organisation_id: OrganisationId,
  api_application_id: ApiApplicationId.nullable(),
  status: IngestStatus,
  source: Source,
  source_reference: z.string().nullable(),
  campaign: z.object({ id: CampaignId, key: CampaignKey }).nullable(),
  provenance: Provenance.nullable(),
  happened_at: Instant.nullable(),
  received_at: Instant,
  processed_at: Instant.nullable(),
  updated_at: Instant,
  contact_id: CustomerId.nullable(),
  matched_by: MatchedBy.nullable(),
  is_new_lead: z.boolean().nullable(),
  facts_written: z.int(),
  fields_proposed: z.int(),
  activities_written: z.int(),
  truncated: z.boolean(),
  retry_after: Instant.nullable(),
  error: z.string().nullable(),
  failures: z.array(RuleFailure),
  /** Details that were sent and cannot be used. */
  refused: z.array(RefusedDetail),
  review: z.object({ reason: ReviewReason, candidates: z.array(CustomerId) }).nullable(),
  discarded: z.object({ reason: DiscardReason, note: z.string().nullable() }).nullable(),
  /** A person of the team took it in although it does not meet the rules. */
  accepted: z.boolean(),
  /** The step that it is at or, deferred, goes back to. */
  step: IngestStep.nullable(),
  /** Tries of that step. */
  attempt: z.int(),
})
export type IngestRecord = z.infer<typeof IngestRecord>

/** The ingest after an event, for the command side and the read model alike. */
export const evolveRecord = (
  ingest: IngestRecord | undefined,
  event: IngestEvent,
  { occurred_at }: Recorded,
): IngestRecord | undefined => {
  if (event.type === 'IngestReceived') return received(event, occurred_at)
  if (!ingest || event.type === 'IngestKeyUsed') return ingest
  return { ...ingest, ...change(ingest, event, occurred_at), updated_at: occurred_at }
}

const received = (event: Extract<IngestEvent, { type: 'IngestReceived' }>, occurred_at: string): IngestRecord => ({
  id: event.ingest_id,
  organisation_id: event.organisation_id,
  api_application_id: event.api_application_id,
  status: 'received',
  source: event.source,
  source_reference: event.source_reference,
  campaign: event.campaign,
  provenance: event.content.provenance,
  happened_at: event.happened_at,
  received_at: occurred_at,
  processed_at: null,
  updated_at: occurred_at,
  contact_id: null,
  matched_by: null,
  is_new_lead: null,
  facts_written: 0,
  fields_proposed: 0,
  activities_written: 0,
  truncated: false,
  retry_after: null,
  error: null,
  failures: [],
  refused: [],
  review: null,
  discarded: null,
  accepted: false,
  step: null,
  attempt: 0,
})

type LaterEvent = Exclude<IngestEvent, { type: 'IngestReceived' | 'IngestKeyUsed' }>

const change = (ingest: IngestRecord, event: LaterEvent, occurred_at: string): Partial<IngestRecord> => {
  switch (event.type) {
    case 'IngestResolutionStarted':
      return { status: 'resolving', step: 'resolving', attempt: event.attempt, retry_after: null, error: null }
    case 'IngestHeld':
      return { status: 'held', failures: event.failures, processed_at: occurred_at, step: null }
    case 'IngestReviewNeeded': {
      const { reason, candidates, refused = [] } = event
      return { status: 'needs_review', review: { reason, candidates }, refused, processed_at: occurred_at, step: null }
    }
    case 'IngestDiscarded': {
      const { reason, note } = event
      return { status: 'discarded', discarded: { reason, note }, processed_at: occurred_at, step: null, failures: [] }
    }
    case 'IngestAccepted':
      return { ...working('resolving', 1), accepted: true, failures: [] }
    case 'IngestPersonPicked':
      return { ...working('resolving', 1), review: null }
    case 'IngestResolved': {
      const { contact_id, matched_by, is_new_lead, refused = [] } = event
      return { ...working('extracting', 1), contact_id, matched_by, is_new_lead, refused, ...sum(ingest, event) }
    }
    case 'IngestDeferred': {
      const { step, attempt, reason, retry_after } = event
      return { status: 'deferred', step, attempt, error: reason, retry_after }
    }
    case 'IngestRetried':
      return working(event.step, event.attempt)
    case 'IngestFailed':
      return { status: 'failed', error: event.reason, processed_at: occurred_at, retry_after: null, step: null }
    case 'IngestApplied': {
      const { truncated } = event
      const refused = [...ingest.refused, ...(event.refused ?? [])]
      return { status: 'applied', ...sum(ingest, event), refused, truncated, processed_at: occurred_at, step: null }
    }
  }
}

const working = (step: IngestStep, attempt: number): Partial<IngestRecord> => ({
  status: step,
  step,
  attempt,
  retry_after: null,
  error: null,
  processed_at: null,
})

type Written = Pick<IngestRecord, 'facts_written' | 'fields_proposed' | 'activities_written'>

const sum = (before: Written, more: Written): Written => ({
  facts_written: before.facts_written + more.facts_written,
  fields_proposed: before.fields_proposed + more.fields_proposed,
  activities_written: before.activities_written + more.activities_written,
})

/** A lead's identifiers, in a form in which all spellings are equal. */
export const namedIn = (
  content: IngestContent,
): Readonly<Record<'named_id' | 'external_id' | 'email' | 'phone_digits', string | null>> => {
  const { details } = sentFields(content)
  const text = (name: DetailName): string | null => {
    const found = details.get(name)
    return found === undefined ? null : findableText(String(found.value))
  }
  return {
    named_id: text('contact_id')?.toLowerCase() ?? null,
    external_id: text('external_id'),
    email: text('email')?.toLowerCase() ?? null,
    phone_digits: phoneDigits(text('phone_number')),
  }
}

/** A lead that was sent, as its sender sees it. What there is nothing to say about is left out. */
export const Ingest = z
  .object({
    id: IngestId,
    status: IngestStatus,
    source: Source,
    source_reference: z.string().optional().describe('As it was sent.'),
    received_at: Instant,
    processed_at: Instant.optional().describe('When it was finished with.'),
    contact_id: CustomerId.optional().describe('The lead that it was applied to.'),
    facts_written: z.int().describe('Facts about the person that were recorded.'),
    fields_proposed: z.int().describe('Values put to the team because they differ from those held.'),
    activities_written: z.int(),
    truncated: z.boolean().describe('The lead was too long to be read in full.'),
    retry_after: Instant.optional().describe('Deferred: when it carries on.'),
    error: z.string().optional().describe('Why it was deferred, or failed.'),
    validation_failures: z
      .array(RuleFailure)
      .optional()
      .describe('Held: the rules that it does not meet, in the sender’s field names.'),
    provenance: Provenance.optional(),
    explanation: z.string().describe('What happened, in words.'),
  })
  .meta({ id: 'Ingest' })
export type Ingest = z.infer<typeof Ingest>

export const renderIngest = (record: IngestRecord): Ingest => {
  const { id, status, source, received_at, facts_written, fields_proposed, activities_written, truncated } = record
  return {
    id,
    status,
    source,
    ...said('source_reference', record.source_reference),
    received_at,
    ...said('processed_at', record.processed_at),
    ...said('contact_id', record.contact_id),
    facts_written,
    fields_proposed,
    activities_written,
    truncated,
    ...said('retry_after', record.retry_after),
    ...said('error', record.error),
    ...(record.failures.length > 0 && { validation_failures: record.failures }),
    ...said('provenance', record.provenance),
    explanation: explain(record),
  }
}

const said = <Name extends string, Value>(name: Name, value: Value | null): Partial<Record<Name, Value>> =>
  // A computed key of one name.
  value === null ? {} : ({ [name]: value } as Record<Name, Value>)

/** Whom a lead names, as it was sent or, once it has a person, as they are known. */
export const NamedPerson = z
  .object({
    name: z.string().nullable(),
    email: z.string().nullable(),
    phone_number: z.string().nullable(),
  })
  .meta({ id: 'NamedPerson' })
export type NamedPerson = z.infer<typeof NamedPerson>

/** Whom a lead names, in the words of its sender: the team decides about one that is no person's yet. */
export const personSent = (content: IngestContent): NamedPerson => {
  const { details } = sentFields(content)
  const text = (name: DetailName): string | null => {
    const found = details.get(name)
    return found === undefined ? null : String(found.value)
  }
  const parts = [text('title'), text('first_name'), text('last_name')].filter((part) => part !== null)
  return {
    name: text('name') ?? (parts.length > 0 ? parts.join(' ') : null),
    email: text('email'),
    phone_number: text('phone_number'),
  }
}

/** The explanation, as a person would say it. */
export const explain = (record: IngestRecord): string => {
  switch (record.status) {
    case 'received':
      return 'We have the lead and will look at it in a moment.'
    case 'resolving':
      return 'We are checking the lead and finding out who it is about.'
    case 'extracting':
      return 'We know who the lead is about and are reading what was sent.'
    case 'applied':
      return explainApplied(record)
    case 'needs_review':
      return `${record.review ? reviews[record.review.reason] : 'Somebody must decide who the lead is about.'}${explainRefused(record)}`
    case 'deferred':
      return `We could not ${record.step === 'extracting' ? 'read the lead' : 'go on'} just now and will try again by ourselves at ${record.retry_after ?? 'a later time'}.`
    case 'failed':
      return record.contact_id === null
        ? `We could not process the lead: ${record.error ?? 'the reason is not known'}`
        : `The lead is recorded with what was declared, but the rest could not be read: ${record.error ?? 'the reason is not known'}${explainRefused(record)}`
    case 'discarded':
      return explainDiscarded(record)
    case 'held': {
      const wrong = record.failures.map(({ field, reason }) => (reason === null ? field : `${field} ${reason}`))
      // Of a person who was erased it is not told any more.
      const which = wrong.length > 0 ? ` (${wrong.join('; ')})` : ''
      return `The lead does not meet the rules${which}. It is held until somebody accepts or discards it.`
    }
  }
}

const reviews: Readonly<Record<ReviewReason, string>> = {
  conflicting_identifiers: 'What was sent points to different people. Somebody must decide who the lead is about.',
  several_people: 'More than one person fits what was sent. Somebody must decide who the lead is about.',
  different_emails:
    'Somebody we know fits what was sent, but has another email address. Somebody must decide whether it is the same person.',
  nobody_named: 'Nothing in the lead says who it is about. Somebody must decide.',
}

const matches: Readonly<Record<Exclude<MatchedBy, 'nothing'>, string>> = {
  contact_id: 'by the id that was sent',
  external_id: 'by the external id',
  email: 'by the email address',
  phone: 'by the phone number',
  name: 'by the name with the date of birth or the postcode',
  person: 'because somebody of the team said so',
}

const explainApplied = (record: IngestRecord): string => {
  const { matched_by, is_new_lead, facts_written, fields_proposed, activities_written, truncated } = record
  const who =
    matched_by === null || matched_by === 'nothing'
      ? 'The lead is about somebody new'
      : `The lead is about somebody we know ${matches[matched_by]}`
  const parts = [
    ...(facts_written > 0 ? [`recorded ${counted(facts_written, 'fact')}`] : []),
    ...(activities_written > 0
      ? [`wrote ${counted(activities_written, 'activity', 'activities')} to the timeline`]
      : []),
    ...(fields_proposed > 0
      ? [`put ${counted(fields_proposed, 'value')} that ${fields_proposed === 1 ? 'differs' : 'differ'} to the team`]
      : []),
  ]
  const did = parts.length > 0 ? `. We ${listed(parts)}.` : ', and told us nothing that we did not know.'
  const isFirst = matched_by !== 'nothing' && is_new_lead === true ? ' They are a lead for the first time.' : ''
  const cut = truncated ? ' It was too long to be read in full.' : ''
  return `${who}${did}${isFirst}${cut}${explainRefused(record)}`
}

/** With a person, what cannot be a detail of theirs is a fact about them. */
const explainRefused = ({ refused, contact_id }: IngestRecord): string => {
  const kept = contact_id === null ? '' : ' and is kept as a fact, as it came'
  return refused.map(({ field, reason }) => ` What was sent as ${field} cannot be used${kept}: ${reason}.`).join('')
}

const explainDiscarded = ({ discarded, source }: IngestRecord): string => {
  const note = discarded?.note ? `: ${discarded.note}` : '.'
  switch (discarded?.reason) {
    case 'blocked_source':
      return `The lead was discarded because leads from ${source} are blocked.`
    case 'trap_field':
      return 'The lead was discarded as spam: a field was filled that no person can see.'
    case 'person':
    case undefined:
      return `Somebody of the team discarded the lead${note}`
  }
}

const listed = (parts: readonly string[]): string =>
  [parts.slice(0, -1).join(', '), ...parts.slice(-1)].filter((each) => each !== '').join(' and ')
