import type { z } from 'zod'
import type { AnswerOption, ReleaseJourney, ReleaseQuestion } from '#domain/catalogue/events.ts'
import type { Presentation } from '#domain/catalogue/record.ts'
import type { Whole } from '../setup-file/section.ts'
import type {
  DeclaredJourney,
  DeclaredOption,
  DeclaredPresentation,
  DeclaredQuestion,
  DeclaredStage,
  IdOf,
} from './declared-journey.ts'

/** An id that a file has to name, since it does not follow from keys and slugs. */
export const unlessDerived = <Id extends string>(id: Id, derived: string): Id | undefined =>
  id === derived ? undefined : id

/** A journey as a file declares it. */
export const writtenJourney = (journey: ReleaseJourney, idOf: IdOf): Whole<z.input<typeof DeclaredJourney>> => {
  const { id, slug, name, description, journey_loading, lifecycle_state, questions, presentations } = journey
  const inJourney: IdOf = (kind, ...key) => idOf(kind, slug, ...key)
  return {
    id: unlessDerived(id, idOf('journey', slug)),
    slug,
    name,
    description,
    journey_loading,
    lifecycle_state,
    questions: questions.map((question) => writtenQuestion(question, inJourney)),
    presentations: presentations.map((presentation) => writtenPresentation(presentation, inJourney)),
  }
}

const writtenQuestion = (question: ReleaseQuestion, idOf: IdOf): Whole<z.input<typeof DeclaredQuestion>> => {
  const { id, key, display_id: _shown, position: _place, answer_options, ask_if, ...rest } = question
  return {
    id: unlessDerived(id, idOf('question', key)),
    key,
    ...rest,
    answer_options: answer_options.map((option) => writtenOption(option, idOf('answer_option', key, option.value))),
    ask_if,
  }
}

const writtenOption = (
  { id, position: _place, terminal_outcome, ...rest }: AnswerOption,
  derived: string,
): Whole<z.input<typeof DeclaredOption>> => ({ id: unlessDerived(id, derived), ...rest, terminal_outcome })

const writtenPresentation = (
  { id, slug, name, template_key, is_default, stages }: Presentation,
  idOf: IdOf,
): Whole<z.input<typeof DeclaredPresentation>> => ({
  id: unlessDerived(id, idOf('presentation', slug)),
  slug,
  name,
  template_key,
  is_default,
  stages: stages.map(
    ({ key, stage_type, title, cta_label, consent_notice, config }): Whole<z.input<typeof DeclaredStage>> => ({
      key,
      stage_type,
      title,
      cta_label,
      consent_notice,
      config,
    }),
  ),
})
