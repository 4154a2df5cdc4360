import { isSameJson } from '../canonical-json.ts'
import type { ReleaseQuestion, TerminalOutcome } from '../catalogue/events.ts'
import type { Fields } from '../rejection.ts'
import { checkAnswer } from './answer-check.ts'
import { derive } from './derive.ts'
import type { Answer, Answers } from './events.ts'

type Questions = readonly ReleaseQuestion[]
type Held = ReadonlyMap<string, Answer>

/** Changes to the answers held; both parts are empty when there are none. */
export type AnswerChange = { readonly saved: Answers; readonly removed: readonly string[] }

/**
 * The change that sent answers make, derived answers included. An answer that is no longer asked for is dropped; `null`
 * removes one. `today` is a date, `YYYY-MM-DD`.
 */
export const changeAnswers = (
  questions: Questions,
  held: Answers,
  sent: Readonly<Record<string, unknown>>,
  today: string,
): { readonly change: AnswerChange; readonly fields: Fields } => {
  if (Object.keys(sent).length === 0) return { change: { saved: {}, removed: [] }, fields: {} }
  const inOrder = questions.toSorted((one, other) => one.position - other.position)
  const byKey = new Map(questions.map((question) => [question.key, question]))
  const given = new Map(Object.entries(held).filter(([key]) => byKey.get(key)?.question_type !== 'derived'))
  const before = new Map(given)
  const reasons = new Map<string, string>()

  for (const [key, value] of Object.entries(sent)) {
    const question = byKey.get(key)
    const checked = question ? check(question, value) : { reason: 'is not a question of this journey' }
    if ('reason' in checked) reasons.set(key, checked.reason)
    else if (checked.answer === null) given.delete(key)
    else given.set(key, checked.answer)
  }

  // Sending an unchanged answer changes nothing, not even an age that has increased since.
  const isChanged = !isSameJson(Object.fromEntries(given), Object.fromEntries(before))
  const settled = isChanged ? settle(inOrder, given, today) : new Map(Object.entries(held))
  // A question that hangs on an answer just refused is not worth a complaint of its own.
  const unasked = reasons.size > 0 ? [] : Object.keys(sent).filter((key) => given.has(key) && !settled.has(key))
  for (const key of unasked) reasons.set(key, 'is not asked, given the other answers')

  const fields = Object.fromEntries([...reasons].map(([key, reason]) => [`answers.${key}`, reason]))
  return { change: changeBetween(held, settled), fields }
}

/** The change to answers when others that they depend on have changed. */
export const settleAnswers = (questions: Questions, held: Answers, today: string): AnswerChange => {
  const inOrder = questions.toSorted((one, other) => one.position - other.position)
  const derived = new Set(questions.filter(({ question_type }) => question_type === 'derived').map(({ key }) => key))
  const given = new Map(Object.entries(held).filter(([key]) => !derived.has(key)))
  return changeBetween(held, settle(inOrder, given, today))
}

const check = (question: ReleaseQuestion, value: unknown) =>
  value === null && question.question_type !== 'derived' ? { answer: null } : checkAnswer(question, value)

/** Drops answers to questions that are not asked, until none is left, and adds the derived answers in the order of the questions. */
const settle = (questions: Questions, given: Held, today: string): Held => {
  const held = new Map(given)
  for (const { key, derivation } of questions) {
    const derived = derivation && derive(derivation, held, today)
    if (derived !== null && derived !== undefined) held.set(key, derived)
  }
  const asked = new Set(questions.filter((question) => isHeldAsked(question, held)).map(({ key }) => key))
  const kept = new Map([...given].filter(([key]) => asked.has(key)))
  return kept.size === given.size ? held : settle(questions, kept, today)
}

const isHeldAsked = ({ ask_if }: ReleaseQuestion, held: Held): boolean => !ask_if || isMet(ask_if, held.get(ask_if.key))

const isMet = ({ equals }: NonNullable<ReleaseQuestion['ask_if']>, held: Answer | undefined): boolean => {
  const wanted = [equals].flat()
  return [held].flat().some((answer) => answer !== undefined && wanted.includes(answer))
}

/** A question is asked, given answers to questions that are all asked. */
export const isAsked = ({ ask_if }: ReleaseQuestion, answers: Answers): boolean =>
  !ask_if || isMet(ask_if, Object.hasOwn(answers, ask_if.key) ? answers[ask_if.key] : undefined)

const changeBetween = (held: Answers, settled: Held): AnswerChange => ({
  saved: Object.fromEntries([...settled].filter(([key, answer]) => !isSameJson(held[key], answer))),
  removed: Object.keys(held).filter((key) => !settled.has(key)),
})

export type Terminal = {
  readonly outcome: TerminalOutcome
  readonly reason_code: string | null
  readonly reason_message: string | null
}

const choices = (answers: Answers, key: string): readonly unknown[] => [answers[key]].flat()

const severest: readonly TerminalOutcome[] = ['decline', 'postpone', 'refer']

/** The end that newly given answers lead to: of several, to decline comes before to postpone, and that before to refer. */
export const terminalOf = (questions: Questions, held: Answers, saved: Answers): Terminal | undefined => {
  const answered = questions.filter(({ key }) => Object.hasOwn(saved, key))
  const chosen = answered.flatMap(({ key, answer_options }) =>
    answer_options.filter(({ value }) => choices(saved, key).includes(value) && !choices(held, key).includes(value)),
  )
  const ends = chosen.flatMap(({ terminal_outcome: outcome, terminal_reason_code, terminal_reason_message }) =>
    outcome ? [{ outcome, reason_code: terminal_reason_code, reason_message: terminal_reason_message }] : [],
  )
  return ends.toSorted((one, other) => severest.indexOf(one.outcome) - severest.indexOf(other.outcome))[0]
}
