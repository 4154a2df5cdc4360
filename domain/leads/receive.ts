import { firstStageOf } from '../pipeline/record.ts'
import { aboutOf, dormantAt, minutesLater } from './about.ts'
import type { Circumstances, ReceiveLead } from './commands.ts'
import type { LeadEvent } from './events.ts'
import { recordActivity } from './facts.ts'
import { gradeOf, scoreOf } from './score.ts'
import type { LeadState } from './state.ts'

/** A person becomes a lead once; sent in again, they are back. */
export const receiveLead = (
  act: ReceiveLead,
  state: LeadState | undefined,
  circumstances: Circumstances,
): readonly LeadEvent[] => (state ? returnLead(act, state, circumstances) : createLead(act, circumstances))

const sendingOf = (act: ReceiveLead) => {
  const { organisation_id, contact_id, api_application_id, source, source_reference, ingest_id } = act
  return { organisation_id, contact_id, api_application_id, source, source_reference, ingest_id }
}

const createLead = (act: ReceiveLead, { by, now, pipeline, campaign = null }: Circumstances): readonly LeadEvent[] => {
  const stage = firstStageOf(pipeline, 'open')
  if (!stage) throw new Error(`Organisation ${act.organisation_id} has no open stage.`)
  const { first_contact_minutes } = pipeline
  const score = scoreOf({ source: act.source, facts: {}, activities: {} }, pipeline)
  return [
    {
      type: 'LeadCreated',
      seen_by: act.api_application_id === null ? [] : [act.api_application_id],
      campaign,
      by,
      ...sendingOf(act),
      external_system_id: act.external_system_id,
      stage: { key: stage.key, kind: stage.kind },
      score,
      grade: gradeOf(score, pipeline),
      first_contact_due_at: first_contact_minutes === null ? null : minutesLater(now, first_contact_minutes),
      dormant_at: dormantAt(now, pipeline),
    },
  ]
}

/** Givers of the id in the organisation's own CRM, after this sending: whoever sends the same one has given it too. */
const givenBy = (
  { api_application_id, external_system_id }: ReceiveLead,
  { record, external_id_of }: LeadState,
): LeadState['external_id_of'] => {
  const held = record.marks.external_system_id
  if (external_system_id === null || (held !== null && external_system_id !== held)) return external_id_of
  if (api_application_id === null || external_id_of === null) return null
  return [...new Set([...external_id_of, api_application_id])]
}

const returnLead = (act: ReceiveLead, state: LeadState, circumstances: Circumstances): readonly LeadEvent[] => {
  if (act.ingest_id !== null && state.sendings.some(({ ingest_id }) => ingest_id === act.ingest_id)) return []
  const { senders, shown } = state.record
  const { api_application_id } = act
  const isNewSender = api_application_id !== null && !senders.includes(api_application_id)
  const seen_by = isNewSender ? [...senders, api_application_id] : senders
  const { activity_id, summary, happened_at } = act
  const form = {
    type: 'RecordActivity',
    activity_id,
    kind: 'form',
    summary,
    direction: 'inbound',
    related: act.ingest_id === null ? null : { type: 'ingest', id: act.ingest_id },
    happened_at,
  } as const
  const returned: LeadEvent = {
    type: 'LeadSentAgain',
    ...aboutOf(state, circumstances),
    ...sendingOf(act),
    seen_by,
    external_system_id: state.record.marks.external_system_id ?? act.external_system_id,
    external_id_of: givenBy(act, state)?.slice() ?? null,
    shown: isNewSender ? shown : null,
  }
  const known = { ...state, record: { ...state.record, senders: seen_by } }
  return [returned, ...recordActivity(form, known, circumstances)]
}
