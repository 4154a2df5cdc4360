import { z } from 'zod'
import {
  AskIf,
  Derivation,
  LifecycleState,
  QuestionType,
  StageType,
  TerminalOutcome,
  Validation,
  type AnswerOption,
  type ReleaseJourney,
  type ReleaseQuestion,
} from '#domain/catalogue/events.ts'
import { stageConfigs, type Presentation } from '#domain/catalogue/record.ts'
import { plainWords, reasonsOf } from '#domain/reasons.ts'
import { eachKeptWhereLeftOut } from '../setup-file/kept.ts'
import { JourneyId, PresentationId, Slug } from '#domain/values.ts'

const Text = z.string().min(1)
const TextOrNull = Text.nullable().default(null)

/** `{ never: Never, current: { label: Every day, … } }`, or a list of options, of which a text is its own label. */
const optionsAsList = (given: unknown): unknown => {
  if (Array.isArray(given))
    return given.map((each: unknown) => (typeof each === 'string' ? asOption(each, each) : each))
  if (typeof given !== 'object' || given === null) return given
  return Object.entries(given).map(([value, option]: [string, unknown]) => asOption(value, option))
}

const asOption = (value: string, option: unknown) =>
  typeof option === 'object' && option !== null ? { value, ...option } : { value, label: option }

export const DeclaredOption = z.strictObject({
  id: z.uuid().optional(),
  value: Text,
  label: Text,
  terminal_outcome: TerminalOutcome.optional(),
  terminal_reason_code: TextOrNull,
  terminal_reason_message: TextOrNull,
})

/** A text is shown as it is and found by its words. */
const suggestionsAsList = (given: unknown): unknown =>
  Array.isArray(given)
    ? given.map((each: unknown) => (typeof each === 'string' ? { label: each, search: each.toLowerCase() } : each))
    : given

export const DeclaredQuestion = z.strictObject({
  id: z.uuid().optional(),
  key: Text,
  label: Text,
  help_text: TextOrNull,
  question_type: QuestionType,
  required: z.boolean().optional(),
  validation: Validation.strict().default({}),
  group_key: TextOrNull,
  group_label: TextOrNull,
  lookup_source: TextOrNull,
  suggestions: z.preprocess(suggestionsAsList, z.array(z.strictObject({ label: Text, search: Text }))).default([]),
  answer_options: z.preprocess(optionsAsList, z.array(DeclaredOption)).default([]),
  ask_if: AskIf.strict().optional(),
  derivation: Derivation.nullable().default(null),
})
type DeclaredQuestion = z.output<typeof DeclaredQuestion>

export const DeclaredStage = z
  .strictObject({
    key: Text.optional(),
    stage_type: StageType,
    title: Text,
    cta_label: TextOrNull,
    consent_notice: Text.optional(),
    config: z.record(z.string(), z.unknown()).default({}),
  })
  .transform((stage, context) => {
    const config = stageConfigs[stage.stage_type].strict().safeParse(stage.config, { error: plainWords })
    if (config.success) return { ...stage, config: config.data }
    for (const { path, reason } of reasonsOf(config.error.issues))
      context.addIssue({ code: 'custom', path: ['config', ...path], message: reason })
    return z.NEVER
  })

export const DeclaredPresentation = z.strictObject({
  id: PresentationId.optional(),
  slug: Slug,
  name: Text,
  template_key: Text.default('standard'),
  is_default: z.boolean().optional(),
  stages: z.array(DeclaredStage).min(1),
})

export const DeclaredJourney = z.strictObject({
  id: JourneyId.optional(),
  slug: Slug,
  name: Text,
  description: TextOrNull,
  journey_loading: z.string({ error: 'must be a text: write it in quotes, for example "1.10"' }).default('1.00'),
  lifecycle_state: LifecycleState.default('production'),
  questions: z.array(DeclaredQuestion).default([]),
  presentations: z.array(DeclaredPresentation).default([]),
})
type DeclaredJourney = z.output<typeof DeclaredJourney>

/** Makes an id from what stays the same from release to release: the kind, and the keys and slugs down to the thing. */
export type IdOf = (kind: string, ...key: readonly string[]) => string

export const journeyOf = (declared: DeclaredJourney, position: number, idOf: IdOf): ReleaseJourney => {
  const { slug, name, description, journey_loading, lifecycle_state, questions, presentations } = declared
  const id = declared.id ?? JourneyId.parse(idOf('journey', slug))
  const inJourney: IdOf = (kind, ...key) => idOf(kind, slug, ...key)
  return {
    id,
    display_id: `jrn_${id}`,
    slug,
    name,
    description,
    journey_loading,
    position,
    lifecycle_state,
    questions: questions.map((question, at) => questionOf(question, at, questions, inJourney)),
    presentations: presentations.map((presentation, at) => presentationOf(presentation, at, presentations, inJourney)),
  }
}

/** Parts of a journey that the file leaves out stay as they are; a part that it names counts as a whole. */
export const keptJourneys = (
  journeys: readonly ReleaseJourney[],
  before: readonly ReleaseJourney[],
  written: unknown,
): ReleaseJourney[] => {
  const names = ['id', 'description', 'journey_loading', 'lifecycle_state', 'questions', 'presentations'] as const
  const kept = eachKeptWhereLeftOut(journeys, before, written, ({ slug }) => slug, names)
  return kept.map((journey) => ({ ...journey, display_id: `jrn_${journey.id}` }))
}

const questionOf = (
  declared: DeclaredQuestion,
  position: number,
  questions: readonly DeclaredQuestion[],
  idOf: IdOf,
): ReleaseQuestion => {
  const { key, question_type, group_key, group_label, ask_if, validation, ...rest } = declared
  const id = declared.id ?? idOf('question', key)
  // A group is named once, at the first of its questions.
  const groupLabel = group_label ?? questions.find((each) => each.group_key === group_key)?.group_label ?? null
  return {
    id,
    display_id: `qst_${id}`,
    key,
    label: rest.label,
    help_text: rest.help_text,
    question_type,
    position,
    required: rest.required ?? question_type !== 'derived',
    validation: validation.pattern === undefined ? validation : { max_length: 200, ...validation },
    group_key,
    group_label: group_key === null ? group_label : groupLabel,
    lookup_source: rest.lookup_source,
    suggestions: rest.suggestions,
    answer_options: rest.answer_options.map((option, at) =>
      optionOf(option, at, (kind, value) => idOf(kind, key, value)),
    ),
    ...(ask_if && { ask_if }),
    derivation: rest.derivation,
  }
}

const optionOf = (
  { terminal_outcome, ...declared }: z.output<typeof DeclaredOption>,
  position: number,
  idOf: (kind: string, value: string) => string,
): AnswerOption => ({
  id: declared.id ?? idOf('answer_option', declared.value),
  value: declared.value,
  label: declared.label,
  position,
  ...(terminal_outcome && { terminal_outcome }),
  terminal_reason_code: declared.terminal_reason_code,
  terminal_reason_message: declared.terminal_reason_message,
})

/** The first is the default where none is marked as such. */
const presentationOf = (
  declared: z.output<typeof DeclaredPresentation>,
  position: number,
  presentations: readonly { readonly is_default?: boolean | undefined }[],
  idOf: IdOf,
): Presentation => {
  const { slug, name, template_key, stages, is_default } = declared
  const id = declared.id ?? PresentationId.parse(idOf('presentation', slug))
  const isFirstOfUnsaid = position === 0 && presentations.every((each) => each.is_default === undefined)
  return {
    id,
    display_id: `prs_${id}`,
    slug,
    name,
    template_key,
    is_default: is_default ?? isFirstOfUnsaid,
    stages: stages.map(({ key, stage_type, title, cta_label, consent_notice, config }, index) => ({
      id: `stg_${id}_${index + 1}`,
      key: key ?? stage_type,
      position: index + 1,
      stage_type,
      title,
      cta_label,
      config,
      ...(consent_notice !== undefined && { consent_notice }),
    })),
  }
}
