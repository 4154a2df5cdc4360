import { dateField } from './date-field.ts'
import { choice, day, h, input, labelled } from './elements.ts'
import type { Answer, Application, Question, Stage } from './records.ts'
import { withUnit } from './unit-field.ts'
import { measured, type Units } from './units.ts'
import { allIn, textIn } from './visit.ts'

const textOf = (answer: Answer | undefined): string =>
  answer === undefined || typeof answer === 'object' ? '' : String(answer)

const fieldOf = (question: Question, answer: Answer | undefined, unit: string | undefined): HTMLElement => {
  const { key: name, help_text: hint, question_type, answer_options, suggestions } = question
  const field = { name, label: labelled(question.label, question.required), hint, value: textOf(answer) }
  switch (question_type) {
    case 'boolean': {
      const yesNo = [
        { value: 'true', label: 'Yes' },
        { value: 'false', label: 'No' },
      ]
      return choice(field, yesNo, { chosen: [textOf(answer)] })
    }
    case 'enum':
      return choice(field, answer_options, { chosen: [textOf(answer)] })
    case 'multi_select':
      return choice(field, answer_options, { chosen: Array.isArray(answer) ? answer : [], type: 'checkbox' })
    case 'number':
    case 'integer': {
      const isWhole = question_type === 'integer'
      const typed = input({ ...field, inputmode: isWhole ? 'numeric' : 'decimal', className: 'short' })
      return unit === undefined ? typed : withUnit(typed, unit, isWhole)
    }
    case 'date':
      return dateField(field)
    case 'string':
      return input({ ...field, suggestions: suggestions.map((each) => each.label) })
    case 'derived':
      throw new Error('A derived question is never asked.')
  }
}

/** An answer as its visitor reads it; undefined where there is none. */
export const answerText = (
  question: Question,
  answer: Answer | undefined,
  unit: string | undefined,
): string | undefined => {
  if (answer === undefined) return undefined
  const { question_type, answer_options } = question
  const labelOf = (value: string) => answer_options.find((each) => each.value === value)?.label ?? value
  if (typeof answer === 'boolean') return answer ? 'Yes' : 'No'
  if (typeof answer === 'number') return unit === undefined ? answer.toLocaleString('en-GB') : measured(answer, unit)
  if (typeof answer !== 'string') return answer.map(labelOf).join(', ')
  return question_type === 'date' ? day(answer) : labelOf(answer)
}

/** The answer given, as the API wants it; undefined when it was left empty. */
const answerOf = ({ key, question_type }: Question, given: FormData): Answer | undefined => {
  if (question_type === 'multi_select') {
    const chosen = allIn(given, key)
    return chosen.length > 0 ? chosen : undefined
  }
  const text = textIn(given, key)
  if (text === '') return undefined
  if (question_type === 'boolean') return text === 'true'
  // What is no number is refused by the API, with a reason.
  if (question_type === 'number' || question_type === 'integer')
    return Number.isFinite(Number(text)) ? Number(text) : text
  return text
}

/** True where a question is asked, given the answers to those before it. */
export const isAsked = (
  { ask_if }: Pick<Question, 'ask_if'>,
  answers: Readonly<Record<string, Answer | undefined>>,
): boolean => {
  if (!ask_if) return true
  const answer = answers[ask_if.key]
  const wanted = Array.isArray(ask_if.equals) ? ask_if.equals : [ask_if.equals]
  return Array.isArray(answer)
    ? answer.some((each) => wanted.includes(each))
    : answer !== undefined && wanted.includes(answer)
}

/** The questions of a stage, in their order. */
export const questionsOf = ({ config }: Stage, all: readonly Question[]): readonly Question[] => {
  const { all_remaining, group_keys, question_keys } = config as {
    readonly all_remaining?: boolean
    readonly group_keys?: readonly string[]
    readonly question_keys?: readonly string[]
  }
  return all.filter(({ key, group_key, question_type }) => {
    if (question_type === 'derived') return false
    return (
      all_remaining === true || question_keys?.includes(key) || (group_key !== null && group_keys?.includes(group_key))
    )
  })
}

/** Fields for questions; those that depend on an answer appear when it is given. */
export const questionFields = (
  questions: readonly Question[],
  { risk_factors }: Application,
  units: Units,
): HTMLElement => {
  const fields = questions.map((question) => ({
    question,
    field: fieldOf(question, risk_factors[question.key], units[question.key]),
  }))
  let group: string | null = null
  const parts = fields.flatMap(({ question, field }) => {
    const isNew = question.group_key !== group && question.group_label !== null
    group = question.group_key
    return isNew ? [h('h2', {}, question.group_label), field] : [field]
  })
  const all = h('div', {}, ...parts)
  const refresh = () => {
    const answers: Record<string, Answer | undefined> = { ...risk_factors }
    const form = all.closest('form')
    for (const { question, field } of fields) {
      const isShown = isAsked(question, answers)
      field.hidden = !isShown
      for (const each of field.querySelectorAll('input')) each.disabled = !isShown
      if (form) answers[question.key] = isShown ? answerOf(question, new FormData(form)) : undefined
    }
  }
  all.addEventListener('input', refresh)
  queueMicrotask(refresh)
  return all
}

/** The answers given, and the required ones that are missing. */
export const readAnswers = (questions: readonly Question[], { risk_factors }: Application, given: FormData) => {
  const answers: Record<string, Answer | undefined> = { ...risk_factors }
  const sent: Record<string, Answer | null> = {}
  const missing: Record<string, string> = {}
  for (const question of questions) {
    const { key, required } = question
    if (!isAsked(question, answers)) {
      answers[key] = undefined
      continue
    }
    const answer = answerOf(question, given)
    answers[key] = answer
    if (answer === undefined && required) missing[key] = 'answer this question'
    else if (answer !== undefined) sent[key] = answer
    else if (risk_factors[key] !== undefined) sent[key] = null
  }
  return { sent, missing }
}
