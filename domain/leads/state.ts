import type { LeadEvent } from './events.ts'
import { evolveLead, type LeadRecord } from './record.ts'

/** A lead as the command side knows it: the record, and what only decisions need. */
export type LeadState = {
  readonly record: LeadRecord
  /** Of the last ones: by them a repeated command is known. */
  readonly ingests: readonly string[]
  readonly seen_activities: readonly string[]
  readonly runs: readonly string[]
  /** What the team said last, by which the same said once more is known: of the reason since the status changed. */
  readonly said: {
    readonly reason?: { readonly reason: string | null; readonly note: string | null }
    readonly vulnerability?: string | null
  }
  /** When its id in the organisation's own CRM became another one; null: never since it was sent. */
  readonly external_id_changed_at: string | null
}

/** Somebody of whom activities are recorded and who is no lead. */
export type BeforeLead = { readonly record: undefined } & Pick<LeadState, 'seen_activities'>

/** What a stream adds up to; undefined while nothing is recorded of the person. */
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
  const { ingests, runs, said, external_id_changed_at } = state?.record ? state : blank
  const hasOtherId =
    state?.record !== undefined && state.record.marks.external_system_id !== record.marks.external_system_id
  const isSending = event.type === 'LeadCreated' || event.type === 'LeadSentAgain'
  return {
    record,
    ingests: isSending && event.ingest_id !== null ? [...ingests, event.ingest_id].slice(-remembered) : ingests,
    seen_activities,
    runs: event.type === 'LeadRunByHand' ? [...runs, event.run_id].slice(-remembered) : runs,
    said: saidAfter(said, event),
    external_id_changed_at: hasOtherId ? recorded.occurred_at : external_id_changed_at,
  }
}

const blank: Omit<LeadState, 'record' | 'seen_activities'> = {
  ingests: [],
  runs: [],
  said: {},
  external_id_changed_at: null,
}

const saidAfter = (before: LeadState['said'], event: LeadEvent): LeadState['said'] => {
  if (event.type === 'LeadVulnerabilityFlagged') return { ...before, vulnerability: event.details }
  const { reason: _reason, ...others } = before
  if (event.type === 'LeadOutcomeReasonSet') return { ...others, reason: { reason: event.reason, note: event.note } }
  return event.type === 'LeadStatusChanged' ? others : before
}
