import type { LeadEvent } from './events.ts'
import { evolveLead, type LeadRecord } from './record.ts'

/** A lead as the command side knows it: the record, and what only decisions need. */
export type LeadState = {
  readonly record: LeadRecord
  /** Of the last ones: by them a repeated command is known. */
  readonly ingests: readonly string[]
  readonly seen_activities: readonly string[]
  readonly runs: readonly string[]
}

// A reaction repeats itself within moments; who repeats an act a thousand acts later has it recorded twice.
const remembered = 1_000

export const evolve = (
  state: LeadState | undefined,
  event: LeadEvent,
  recorded: { readonly occurred_at: string },
): LeadState | undefined => {
  const record = evolveLead(state?.record, event, recorded)
  if (!record) return undefined
  const { ingests = [], seen_activities = [], runs = [] } = state ?? {}
  const isSending = event.type === 'LeadCreated' || event.type === 'LeadSentAgain'
  return {
    record,
    ingests: isSending && event.ingest_id !== null ? [...ingests, event.ingest_id].slice(-remembered) : ingests,
    seen_activities:
      event.type === 'LeadActivityRecorded'
        ? [...seen_activities, event.activity_id].slice(-remembered)
        : seen_activities,
    runs: event.type === 'LeadRunByHand' ? [...runs, event.run_id].slice(-remembered) : runs,
  }
}
