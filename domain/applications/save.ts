import { isSameJson } from '../canonical-json.ts'
import type { Release } from '../catalogue/events.ts'
import { lifeKeysOf } from '../catalogue/record.ts'
import { changeAnswers, terminalOf, type AnswerChange } from './answers.ts'
import { changeCover, type Cover, type CoverInput } from './cover.ts'
import { endedBy } from './endings.ts'
import type { ApplicationEvent } from './events.ts'
import { settlePartnerAnswers } from './joint.ts'
import { withOutdatedAcceptance } from './outdated-acceptance.ts'
import { mergeProvenance, tidyProvenance } from '../provenance.ts'
import { withdrawn } from './quote.ts'
import { journeyOfApplication, partnerIdOf, type ApplicationStreamEvent } from './record.ts'
import { refuseClosed, refuseInputs } from './refusals.ts'
import type { CustomerId } from '../values.ts'
import type { ApplicationState } from './state.ts'

/** An undefined field stays as it was. */
export type SaveApplication = CoverInput & {
  readonly type: 'SaveApplication'
  readonly release: Release
  readonly answers: Readonly<Record<string, unknown>> | undefined
  readonly provenance: unknown
  /** The date now, where the organisation is, `YYYY-MM-DD`. */
  readonly today: string
  readonly now: string
}

export const saveApplication = (
  command: SaveApplication,
  state: ApplicationState,
): readonly ApplicationStreamEvent[] => {
  const { record, components } = state
  refuseClosed(record)
  const { release, answers = {}, today, now } = command
  const journey = journeyOfApplication(release, record)
  const held = { cover_amount_pence: record.cover_amount_pence, term_years: record.term_years, components }

  const answered = changeAnswers(journey.questions, record.risk_factors, answers, today)
  const covered = changeCover(release.covers, held, command)
  refuseInputs('validation_failed', { ...answered.fields, ...covered.fields })

  const { cover } = covered
  const provenance = mergeProvenance(state.provenance, tidyProvenance(command.provenance))
  const saved: readonly ApplicationEvent[] = [
    ...answersSaved(answered.change),
    ...partnerAnswersKept(command, state, answered.change),
    ...(isSameJson(cover, held) ? [] : [coverSaved(cover)]),
    ...(provenance && !isSameJson(provenance, state.provenance)
      ? [{ type: 'ProvenanceSaved', provenance } as const]
      : []),
  ]
  const terminal = terminalOf(journey.questions, record.risk_factors, answered.change.saved)
  return terminal
    ? [...saved, ...withdrawn(state, 'application_closed', now), endedBy('answer', terminal.outcome, terminal)]
    : withOutdatedAcceptance(state, saved)
}

/** A question that the second person is no longer asked, given the new answers of the application, loses its answer. */
const partnerAnswersKept = (
  { release, today }: SaveApplication,
  { record, partner_answers }: ApplicationState,
  { saved, removed }: AnswerChange,
): readonly ApplicationEvent[] => {
  if (Object.keys(partner_answers).length === 0 || Object.keys(saved).length + removed.length === 0) return []
  const journey = journeyOfApplication(release, record)
  const kept = Object.entries(record.risk_factors).filter(([key]) => !removed.includes(key))
  const both = { first: { ...Object.fromEntries(kept), ...saved }, partner: partner_answers }
  const settled = settlePartnerAnswers(journey.questions, lifeKeysOf(release, journey), both, today)
  return partnerAnswersSaved(settled, partnerIdOf(record))
}

const coverSaved = ({ components, ...figures }: Cover): ApplicationEvent => ({
  type: 'CoverSaved',
  ...figures,
  components: [...components],
})

export const answersSaved = ({ saved, removed }: AnswerChange): readonly ApplicationEvent[] =>
  Object.keys(saved).length > 0 || removed.length > 0 ? [{ type: 'AnswersSaved', saved, removed: [...removed] }] : []

export const partnerAnswersSaved = (
  { saved, removed }: AnswerChange,
  customer_id: CustomerId | null,
): readonly ApplicationEvent[] =>
  Object.keys(saved).length > 0 || removed.length > 0
    ? [{ type: 'PartnerAnswersSaved', customer_id, saved, removed: [...removed] }]
    : []
