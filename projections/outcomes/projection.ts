import type { MappedOutcome } from '#domain/custom-integrations/events.ts'
import { idOf, organisationOf } from '#domain/event.ts'
import {
  outcomeEvents,
  outcomeReportEvents,
  type HeldReason,
  type LeadReference,
  type Report,
} from '#domain/outcomes/events.ts'
import { outcomeOf, type Outcome } from '#domain/outcomes/record.ts'
import { phoneDigits } from '#domain/phone-digits.ts'
import type { Fields } from '#domain/rejection.ts'
import { findableText } from '#domain/invisible-characters.ts'
import { isPlacedBehind } from '../place.ts'
import type { Projection } from '../projection.ts'

type Row = {
  readonly organisation_id: string
  /** An application that has sent the lead, or the organisation itself, which sees all. */
  readonly viewer_id: string
  readonly id: string
  /** Its first place in the log for the viewer: the order of the list. */
  readonly position: string
  readonly contact_id: string
  readonly type: string
  readonly deal_ref: string | null
  /** Only in the row of the organisation, as is all that follows. */
  readonly document: Outcome | null
  /** The application that reported it; null: the team, an upload, another system or a policy. */
  readonly reporter_id: string | null
  readonly event_id: string | null
}

const place = `"position" collate "C"`

/** No longer one can be asked for; one of another system may be longer than an index can hold. */
const longestEventId = 200

/** Of a row of somebody who is not the organisation. */
const ofNobodyElse = { document: null, reporter_id: null, event_id: null }

/** Outcomes that are shown together stand in their order, after all that came before, and before what is placed behind it. */
const placeWithin = (position: string, index: number): string => `${position}!${String(index).padStart(4, '0')}`

/**
 * Every outcome as it is shown, reversals too: once for the organisation, and once for each application that has sent its
 * lead, in the order in which the application could see it. What was recorded before it sent the lead comes then, so that
 * nobody who reads on misses it. One read model for both: what a viewer sees is never without its outcome.
 */
export const outcomes: Projection<typeof outcomeEvents, Row, 'organisation_id' | 'viewer_id' | 'id'> = {
  name: 'outcomes',
  version: 4,
  categories: ['outcomes'],
  events: outcomeEvents,
  table: {
    columns: {
      organisation_id: 'uuid',
      viewer_id: 'uuid',
      id: 'uuid',
      position: 'text',
      contact_id: 'uuid',
      type: 'text',
      deal_ref: 'text',
      document: 'json',
      reporter_id: 'uuid',
      event_id: 'text',
    },
    key: ['organisation_id', 'viewer_id', 'id'],
    indexes: [
      `organisation_id, viewer_id, ${place}`,
      `organisation_id, viewer_id, type, ${place}`,
      `organisation_id, viewer_id, contact_id, ${place}`,
      `organisation_id, viewer_id, deal_ref, ${place}`,
      'organisation_id, event_id where event_id is not null',
      `organisation_id where ${isPlacedBehind}`,
    ],
  },
  place: { column: 'position', record: 'contact_id' },

  keys: (event, stored) => {
    const organisation_id = organisationOf(stored)
    const seenBy = (viewers: readonly string[], ids: readonly string[]) =>
      viewers.flatMap((viewer_id) => ids.map((id) => ({ organisation_id, viewer_id, id })))
    switch (event.type) {
      case 'OutcomeRecorded':
        return seenBy([organisation_id, ...event.seen_by], [event.outcome_id])
      case 'OutcomeReversed':
        return [
          ...seenBy([organisation_id, ...event.seen_by], [event.outcome_id]),
          ...seenBy([organisation_id], [event.reversal_of]),
        ]
      case 'OutcomesShown':
        return seenBy(
          event.seen_by,
          event.outcomes.map(({ outcome_id }) => outcome_id),
        )
    }
  },

  project: (row, event, { position }, key) => {
    const { contact_id } = event
    if (event.type === 'OutcomesShown') {
      const index = event.outcomes.findIndex(({ outcome_id }) => outcome_id === key.id)
      const shown = event.outcomes[index]
      if (!shown) throw new Error(`${event.type} names no outcome ${key.id}.`)
      const { outcome_type: type, deal_ref } = shown
      return { ...key, position: placeWithin(position, index), contact_id, type, deal_ref, ...ofNobodyElse }
    }
    if (key.id === event.outcome_id) {
      const { outcome_type: type, deal_ref, api_application_id: reporter_id } = event
      const event_id = event.event_id !== null && event.event_id.length <= longestEventId ? event.event_id : null
      const own =
        key.viewer_id === key.organisation_id ? { document: outcomeOf(event), reporter_id, event_id } : ofNobodyElse
      return { ...key, position, contact_id, type, deal_ref, ...own }
    }
    if (!row?.document) throw new Error(`${event.type} of outcome ${key.id}, which was never recorded.`)
    return { ...row, document: { ...row.document, reversed: true } }
  },
}

type HeldRow = {
  readonly organisation_id: string
  readonly id: string
  readonly position: string
  /** Identifiers of the person it names, for an erasure before anybody has matched it. */
  readonly named_id: string | null
  readonly external_id: string | null
  readonly email: string | null
  readonly phone_digits: string | null
  readonly document: {
    readonly reason: HeldReason
    readonly event_id: string | null
    readonly api_application_id: string | null
    readonly source: string
    /** Null where what was sent cannot be recorded as it is. */
    readonly report: Report | null
    readonly lead: LeadReference | null
    /** As the event of another system says it, where it is not a report yet. */
    readonly sent: MappedOutcome | null
    /** The fault of each input. */
    readonly faults: Fields
    readonly held_at: string
  }
}

type Names = Readonly<Record<'named_id' | 'external_id' | 'email' | 'phone', string | null>>
type Named = Pick<HeldRow, 'named_id' | 'external_id' | 'email' | 'phone_digits'>

const namesOf = ({ named_id, external_id, email, phone }: Names): Named => ({
  named_id: named_id?.toLowerCase() ?? null,
  external_id: external_id === null ? null : findableText(external_id),
  email: email === null ? null : findableText(email).toLowerCase(),
  phone_digits: phoneDigits(phone),
})

type Document = HeldRow['document']
type Origin = Pick<Document, 'event_id' | 'api_application_id' | 'source'>
type Held = { readonly names: Named; readonly held: Omit<Document, keyof Origin | 'held_at'> }
type Content = { readonly report: Report; readonly lead: LeadReference }

const heldReport = ({ report, lead }: Content, reason: HeldReason, faults: Fields = {}): Held => ({
  names: namesOf({ ...lead, named_id: lead.contact_id }),
  held: { reason, report, lead, sent: null, faults },
})

/** Outcomes that wait for a person to say which lead they are about. */
export const heldOutcomes: Projection<typeof outcomeReportEvents, HeldRow, 'organisation_id' | 'id'> = {
  name: 'held_outcomes',
  version: 5,
  categories: ['outcome_report'],
  events: outcomeReportEvents,
  table: {
    columns: {
      organisation_id: 'uuid',
      id: 'uuid',
      position: 'text',
      named_id: 'text',
      external_id: 'text',
      email: 'text',
      phone_digits: 'text',
      document: 'json',
    },
    key: ['organisation_id', 'id'],
    indexes: [
      `organisation_id, ${place}`,
      'organisation_id, named_id',
      'organisation_id, external_id',
      'organisation_id, email',
      'organisation_id, phone_digits',
    ],
  },

  keys: (_event, recorded) => [{ organisation_id: organisationOf(recorded), id: idOf(recorded.stream) }],

  project: (row, event, { position, metadata }, key) => {
    const begun = ({ event_id, api_application_id, source }: Origin, { names, held }: Held): HeldRow => {
      const origin = { event_id, api_application_id, source, held_at: metadata.occurred_at }
      return { ...key, position, ...names, document: { ...origin, ...held } }
    }

    switch (event.type) {
      case 'OutcomeReported':
        return event.held === null ? undefined : begun(event, heldReport(event, event.held))
      case 'MatchedOutcomeHeld':
        return begun(event, heldReport(event, 'invalid', event.faults))
      case 'InvalidOutcomeReported': {
        const { sent, faults } = event
        const names = namesOf({ ...sent.lead, named_id: sent.lead.id })
        return begun(event, { names, held: { reason: 'invalid', report: null, lead: null, sent, faults } })
      }
      case 'HeldOutcomeCorrected': {
        if (!row || event.held === null) return undefined
        const { names, held } = heldReport(event, event.held)
        return { ...row, ...names, document: { ...row.document, ...held } }
      }
      case 'HeldOutcomeMatched':
      case 'HeldOutcomeDiscarded':
        return undefined
    }
  },
}
