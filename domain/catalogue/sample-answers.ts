import type { Answer, Answers } from '../applications/events.ts'
import { rateTableAnswers } from '../rating/cover.ts'
import type { Condition } from '../rating/events.ts'
import type { Draft } from './events.ts'

/** The answers without which there is no price, as most people give them. */
export const usualAnswers = (drafts: readonly Draft[]): Answers => {
  const answers: Record<string, Answer> = {}
  for (const draft of drafts.toReversed()) {
    for (const key of pricingKeys(draft)) Object.assign(answers, choicesOf(draft, key)[0])
    const no = nonSmoker(draft)
    if (draft.smoker && no !== undefined) answers[draft.smoker.key] = no
    if (draft.earnings) answers[draft.earnings.key] = 100_000
    for (const { members_factor, members_min, members_max, opt_in_factor } of draft.covers) {
      if (members_factor !== null) answers[members_factor] = Math.min(Math.max(2, members_min ?? 1), members_max ?? 2)
      if (opt_in_factor !== null) answers[opt_in_factor] = true
    }
  }
  return answers
}

/** Answers that are not the usual ones, one at a time: each choice that has a rate or a factor, and what each rule asks for. */
export const otherAnswers = (drafts: readonly Draft[], most: number): readonly Answers[] =>
  drafts.flatMap((draft) => [
    ...pricingKeys(draft)
      .slice(0, most)
      .flatMap((key) => choicesOf(draft, key).slice(1, most)),
    ...draft.joint.joint_values.slice(0, 1).map((value) => ({ [draft.joint.factor_key ?? '']: value })),
    ...draft.underwriting.rules
      .slice(0, most)
      .map(({ when }) => Object.assign({}, ...[when].flat().map((condition) => meeting(draft, condition))) as Answers),
  ])

/** The questions that choose a rate or a factor. */
const pricingKeys = ({ covers, factors }: Draft): readonly string[] => [
  ...new Set([
    ...covers.flatMap(({ rate_table }) => rateTableAnswers(rate_table ?? '')),
    ...factors.by_answer.map(({ key }) => key),
  ]),
]

type Question = Draft['journeys'][number]['questions'][number]

/** A product may have thousands of questions, each of which may choose a factor. */
const questions = new WeakMap<Draft, ReadonlyMap<string, Question>>()

const questionOf = (draft: Draft, key: string): Question | undefined => {
  const known =
    questions.get(draft) ??
    new Map(draft.journeys.flatMap((journey) => journey.questions.map((each) => [each.key, each])))
  questions.set(draft, known)
  return known.get(key)
}

const nonSmoker = (draft: Draft): Answer | undefined => {
  const yes: readonly unknown[] = draft.smoker?.values ?? []
  const options = questionOf(draft, draft.smoker?.key ?? '')?.answer_options.map(({ value }) => value) ?? []
  return [false, ...options].find((value) => !yes.includes(value) && (options.length === 0 || value !== false))
}

/** The answers that lead to each choice at a key. */
const choicesOf = (draft: Draft, key: string): readonly Answers[] => {
  const derived = draft.underwriting.derived.find((value) => value.key === key)
  if (derived?.kind === 'mapped') {
    const sources = new Map(Object.entries(derived.values).map(([source, value]) => [value, source]))
    return [...sources.values()].map((source) => ({ [derived.from]: answerAs(draft, derived.from, source) }))
  }
  const question = questionOf(draft, key)
  if (question?.question_type === 'boolean') return [{ [key]: false }, { [key]: true }]
  return (question?.answer_options ?? []).map(({ value }) => ({ [key]: answerAs(draft, key, value) }))
}

/** A text as its question takes it. */
const answerAs = (draft: Draft, key: string, text: string): Answer => {
  switch (questionOf(draft, key)?.question_type) {
    case 'boolean':
      return text === 'true'
    case 'number':
    case 'integer':
      return Number(text)
    case 'multi_select':
      return [text]
    case 'date':
    case 'derived':
    case 'enum':
    case 'string':
    case undefined:
      return text
  }
}

const heightCm = 175

/** Answers of which a condition is true. */
const meeting = (draft: Draft, condition: Condition): Answers => {
  const { key } = condition
  const value = 'equals' in condition ? ([condition.equals].flat()[0] ?? true) : numberIn(condition)
  const derived = draft.underwriting.derived.find((each) => each.key === key)
  switch (derived?.kind) {
    case 'bmi': {
      const weight = Math.ceil((Number(value) * heightCm ** 2) / 1_000) / 10
      return { [derived.height_cm]: heightCm, [derived.weight_kg]: weight }
    }
    case 'mapped': {
      const source = Object.entries(derived.values).find(([, each]) => each === value)?.[0] ?? 'other'
      return { [derived.from]: answerAs(draft, derived.from, source) }
    }
    case 'age':
    case undefined:
      return { [key]: questionOf(draft, key)?.question_type === 'multi_select' ? [String(value)] : value }
  }
}

const numberIn = ({ min, above, max, below }: Exclude<Condition, { readonly equals: unknown }>): number =>
  min ?? (above === undefined ? (max ?? (below ?? 1) - 1) : above + 1)

/** A rule on the age is met by the age itself. */
export const ageIn = (drafts: readonly Draft[], answers: Answers): number | undefined => {
  const keys = drafts.flatMap(({ underwriting }) =>
    underwriting.derived.flatMap(({ kind, key }) => (kind === 'age' ? [key] : [])),
  )
  const age = keys.map((key) => answers[key]).find((value) => typeof value === 'number')
  return typeof age === 'number' ? age : undefined
}
