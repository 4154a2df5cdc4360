import type { ReleaseQuestion } from './events.ts'
import { eachOf, fault, repeats, under, when, type Fault } from './faults.ts'
import { longestMatchedText, patternFault } from '../pattern.ts'

/** The questions of a journey by their keys. */
export type QuestionsByKey = ReadonlyMap<string, ReleaseQuestion>

export const questionFaults = (questions: readonly ReleaseQuestion[]): readonly Fault[] => {
  const byKey: QuestionsByKey = new Map(questions.map((question) => [question.key, question]))
  return [
    ...repeats('questions', questions, 'id'),
    ...repeats('questions', questions, 'key'),
    ...repeats('questions', questions, 'position'),
    ...eachOf('questions', questions, (question) => [
      ...keyFaults(question),
      ...optionFaults(question),
      ...under(['validation'], validationFaults(question)),
      ...lookupFaults(question),
      ...askIfFaults(question, byKey),
      ...derivationFaults(question, byKey),
      ...groupFaults(question, questions),
    ]),
  ]
}

const keyFaults = ({ key, label }: ReleaseQuestion) => [
  ...when(
    !/^[a-z][a-z0-9_]{0,63}$/.test(key) || key === 'constructor',
    ['key'],
    'use up to 64 lower-case letters, digits and underscores, beginning with a letter',
  ),
  ...when(label.trim() === '', ['label'], 'must not be empty'),
]

const hasOptions = ({ question_type }: ReleaseQuestion) => question_type === 'enum' || question_type === 'multi_select'

const optionFaults = (question: ReleaseQuestion): readonly Fault[] => {
  const { answer_options: options, question_type } = question
  if (!hasOptions(question))
    return when(options.length > 0, ['answer_options'], `a question of type ${question_type} has none`)
  return [
    ...when(options.length === 0, ['answer_options'], `a question of type ${question_type} needs at least one`),
    ...repeats('answer_options', options, 'id'),
    ...repeats('answer_options', options, 'value'),
    ...repeats('answer_options', options, 'position'),
    ...eachOf('answer_options', options, (option) => [
      ...when(option.value.trim() === '', ['value'], 'must not be empty'),
      ...when(
        option.terminal_outcome === undefined &&
          (option.terminal_reason_code !== null || option.terminal_reason_message !== null),
        ['terminal_outcome'],
        'an option with a terminal reason needs it',
      ),
    ]),
  ]
}

const validationFaults = ({ question_type, validation }: ReleaseQuestion): readonly Fault[] => {
  const { min, max, min_length, max_length, pattern } = validation
  const isNumber = question_type === 'number' || question_type === 'integer'
  const limit = isNumber ? 'number' : question_type === 'date' ? 'string' : undefined
  const measuresLength = question_type === 'string' || question_type === 'multi_select'
  const badly = (name: 'min' | 'max', value: unknown) =>
    value === undefined
      ? []
      : limit === undefined
        ? [fault([name], `a question of type ${question_type} has no such limit`)]
        : when(typeof value !== limit, [name], limit === 'number' ? 'must be a number' : 'must be a date')
  return [
    ...badly('min', min),
    ...badly('max', max),
    ...when(min !== undefined && max !== undefined && typeof min === typeof max && min > max, ['max'], 'is below min'),
    ...when(min_length !== undefined && !measuresLength, ['min_length'], 'only texts and selections have a length'),
    ...when(max_length !== undefined && !measuresLength, ['max_length'], 'only texts and selections have a length'),
    ...when((min_length ?? 0) < 0, ['min_length'], 'must not be below 0'),
    ...when(max_length !== undefined && max_length < Math.max(min_length ?? 0, 1), ['max_length'], 'leaves no answer'),
    ...patternFaults(question_type === 'string', pattern, max_length),
  ]
}

const patternFaults = (isText: boolean, pattern: string | undefined, maxLength: number | undefined) => {
  if (pattern === undefined) return []
  if (!isText) return [fault(['pattern'], 'only texts have a pattern')]
  if (maxLength === undefined) return [fault(['max_length'], 'a text with a pattern needs it')]
  const reason = patternFault(pattern)
  return [
    ...when(maxLength > longestMatchedText, ['max_length'], `a text with a pattern has at most ${longestMatchedText}`),
    ...(reason === undefined ? [] : [fault(['pattern'], reason)]),
  ]
}

const lookupFaults = ({ question_type, lookup_source, suggestions }: ReleaseQuestion) => [
  ...when(lookup_source !== null && question_type !== 'string', ['lookup_source'], 'only free text can be looked up'),
  ...when(suggestions.length > 0 && lookup_source === null, ['suggestions'], 'only with a lookup_source'),
]

const askIfFaults = (question: ReleaseQuestion, byKey: QuestionsByKey): readonly Fault[] => {
  const { ask_if } = question
  if (!ask_if) return []
  const asked = byKey.get(ask_if.key)
  if (question.question_type === 'derived') return [fault(['ask_if'], 'a derived question is never asked')]
  if (!asked || asked.position >= question.position)
    return [fault(['ask_if', 'key'], `no earlier question has the key ${ask_if.key}`)]
  const values = Array.isArray(ask_if.equals) ? ask_if.equals : [ask_if.equals]
  return [
    ...when(values.length === 0, ['ask_if', 'equals'], 'must name at least one value'),
    ...values.flatMap((value, index) => {
      const reason = answerFault(asked, value)
      return reason === undefined
        ? []
        : [fault(Array.isArray(ask_if.equals) ? ['ask_if', 'equals', index] : ['ask_if', 'equals'], reason)]
    }),
  ]
}

/** Why a value can never be an answer to a question, or never one that a multi_select contains. */
export const answerFault = (question: ReleaseQuestion, value: unknown): string | undefined => {
  const { key, question_type, answer_options } = question
  if (hasOptions(question))
    return answer_options.some((option) => option.value === value)
      ? undefined
      : `${JSON.stringify(value)} is not an option of ${key}`
  const expected = question_type === 'derived' ? derivedType(question) : jsTypes[question_type]
  return typeof value === expected ? undefined : `the answer to ${key} is never ${JSON.stringify(value)}`
}

const jsTypes: Readonly<Record<string, string>> = {
  date: 'string',
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
}

const derivedType = ({ derivation }: ReleaseQuestion) => (derivation?.kind === 'any' ? 'boolean' : 'number')

const answerType = (question: ReleaseQuestion): string | undefined =>
  question.question_type === 'derived' ? derivedType(question) : jsTypes[question.question_type]

const derivationFaults = (question: ReleaseQuestion, byKey: QuestionsByKey): readonly Fault[] => {
  const { question_type, derivation, required } = question
  if (question_type !== 'derived')
    return when(derivation !== null, ['derivation'], `a question of type ${question_type} is asked, not derived`)
  if (derivation === null) return [fault(['derivation'], 'a derived question needs it')]

  const source = (path: readonly (string | number)[], key: string, type: string, what: string) => {
    const from = byKey.get(key)
    if (!from) return [fault(['derivation', ...path], `there is no question with the key ${key}`)]
    if (from.question_type === 'derived' && from.position >= question.position)
      return [fault(['derivation', ...path], `${key} is derived later`)]
    const fits = what === 'a date' ? from.question_type === 'date' : answerType(from) === type
    return when(!fits, ['derivation', ...path], `${key} is not ${what}`)
  }
  const sources = () => {
    switch (derivation.kind) {
      case 'age':
        return source(['key'], derivation.key, 'string', 'a date')
      case 'bmi':
        return [
          ...source(['height_cm'], derivation.height_cm, 'number', 'a number'),
          ...source(['weight_kg'], derivation.weight_kg, 'number', 'a number'),
        ]
      case 'sum':
        return derivation.keys.flatMap((key, index) => source(['keys', index], key, 'number', 'a number'))
      case 'any':
        return derivation.keys.flatMap((key, index) => source(['keys', index], key, 'boolean', 'a yes or no'))
    }
  }
  return [...when(required, ['required'], 'a derived question is never asked, so never required'), ...sources()]
}

const groupFaults = ({ group_key, group_label }: ReleaseQuestion, questions: readonly ReleaseQuestion[]) => {
  if (group_key === null) return when(group_label !== null, ['group_key'], 'a group_label needs it')
  const first = questions.find((question) => question.group_key === group_key)
  return when(
    first !== undefined && first.group_label !== group_label,
    ['group_label'],
    `the group ${group_key} is called ${JSON.stringify(first?.group_label)} before`,
  )
}
