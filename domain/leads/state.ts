import type { ApiApplicationId, CampaignId } from '../values.ts'
import type { LeadEvent } from './events.ts'
import { evolveLead, type LeadRecord } from './record.ts'

/** A sending of the person; `ingest_id` is null where the team entered them. */
export type Sending = {
  readonly ingest_id: string | null
  readonly campaign_id: CampaignId | null
  readonly at: string
}

/** A lead as the command side knows it: the record, and what only decisions need. */
export type LeadState = {
  readonly record: LeadRecord
  /** Of the last ones: by them a repeated command is known. */
  readonly sendings: readonly Sending[]
  readonly seen_activities: readonly string[]
  readonly runs: readonly string[]
  /** The team's last words, to recognise a repeat: for the reason, since the status changed. */
  readonly said: {
    readonly reason?: { readonly reason: string | null; readonly note: string | null }
    readonly vulnerability?: string | null
  }
  /** When its id in the organisation's own CRM became another one; null: never since it was sent. */
  readonly external_id_changed_at: string | null
  /** The applications that gave that id; null: the team or an import did. */
  readonly external_id_of: readonly ApiApplicationId[] | null
}

/** Somebody of whom activities are recorded and who is no lead. */
export type BeforeLead = { readonly record: undefined } & Pick<LeadState, 'seen_activities'>

/** The state of a stream; undefined while nothing is recorded of the person. */
export type LeadStreamState = LeadState | BeforeLead | undefined

// A reaction repeats itself within moments; who repeats an act a thousand acts later has it recorded twice.
const remembered = 1_000

export const evolve = (
  state: LeadStreamState,
  event: LeadEvent,
  recorded: { readonly occurred_at: string },
): LeadStreamState => {
  const record = evolveLead(state?.record, event, recorded)
  const before = state?.seen_activities ?? []
  const seen_activities =
    event.type === 'LeadActivityRecorded' ? [...before, event.activity_id].slice(-remembered) : before
  if (!record) return { record, seen_activities }
  const { sendings, runs, said, external_id_changed_at } = state?.record ? state : blank
  const hasOtherId =
    state?.record !== undefined && state.record.marks.external_system_id !== record.marks.external_system_id
  const sending = sendingIn(event, recorded.occurred_at)
  return {
    record,
    sendings: sending ? [...sendings, sending].slice(-remembered) : sendings,
    seen_activities,
    runs: event.type === 'LeadRunByHand' ? [...runs, event.run_id].slice(-remembered) : runs,
    said: saidAfter(said, event),
    external_id_changed_at: hasOtherId ? recorded.occurred_at : external_id_changed_at,
    external_id_of: externalIdOf(state?.record ? state : undefined, event),
  }
}

const blank: Omit<LeadState, 'record' | 'seen_activities'> = {
  sendings: [],
  runs: [],
  said: {},
  external_id_changed_at: null,
  external_id_of: [],
}

const externalIdOf = (before: LeadState | undefined, event: LeadEvent): LeadState['external_id_of'] => {
  const known = before ? before.external_id_of : []
  if (event.type === 'LeadMarked')
    return event.marks.external_system_id === undefined ? known : event.marks.external_system_id === null ? [] : null
  if (event.type !== 'LeadCreated' && event.type !== 'LeadSentAgain') return known
  if (event.type === 'LeadSentAgain' && event.external_id_of !== undefined) return event.external_id_of
  // As earlier versions stored it: the first that gave one.
  if (event.external_system_id === null) return []
  if (before && before.record.marks.external_system_id !== null) return known
  return event.api_application_id === null ? null : [event.api_application_id]
}

const sendingIn = (event: LeadEvent, at: string): Sending | undefined =>
  event.type === 'LeadCreated' || event.type === 'LeadSentAgain'
    ? { ingest_id: event.ingest_id, campaign_id: event.campaign?.id ?? null, at }
    : undefined

const saidAfter = (before: LeadState['said'], event: LeadEvent): LeadState['said'] => {
  if (event.type === 'LeadVulnerabilityFlagged') return { ...before, vulnerability: event.details }
  const { reason: _reason, ...others } = before
  if (event.type === 'LeadOutcomeReasonSet') return { ...others, reason: { reason: event.reason, note: event.note } }
  return event.type === 'LeadStatusChanged' ? others : before
}
