import type { ReleaseQuestion, Validation } from '../catalogue/events.ts'
import { longestMatchedText, matchesPattern } from '../pattern.ts'
import { CalendarDate } from '../values.ts'
import type { Answer } from './events.ts'
import { noDate } from '../reasons.ts'

const longestText = 1000

type Checked = { readonly answer: Answer } | { readonly reason: string }

/** The answer that a caller sent, tidied; or the reason why it is none. */
export const checkAnswer = ({ question_type, validation, answer_options }: ReleaseQuestion, sent: unknown): Checked => {
  const values = answer_options.map(({ value }) => value)
  switch (question_type) {
    case 'derived':
      return { reason: 'is worked out from other answers: do not send it' }
    case 'boolean':
      return typeof sent === 'boolean' ? { answer: sent } : { reason: 'must be true or false' }
    case 'integer':
      return Number.isSafeInteger(sent) ? within(validation, Number(sent)) : { reason: 'must be a whole number' }
    case 'number':
      // JSON can hold numbers such as 1e400, which are read as infinite and cannot be stored.
      return Number.isFinite(sent) ? within(validation, Number(sent)) : { reason: 'must be a number' }
    case 'date':
      return CalendarDate.safeParse(sent).success ? within(validation, String(sent)) : { reason: noDate(sent) }
    case 'string':
      return typeof sent === 'string' ? text(validation, sent.trim()) : { reason: 'must be text' }
    case 'enum':
      return typeof sent === 'string' && values.includes(sent)
        ? { answer: sent }
        : { reason: `must be ${oneOf(values)}` }
    case 'multi_select':
      return Array.isArray(sent) && sent.every((value) => typeof value === 'string' && values.includes(value))
        ? selection(
            validation,
            values.filter((value) => sent.includes(value)),
          )
        : { reason: `must be a list of ${oneOf(values)}` }
  }
}

const oneOf = (values: readonly string[]) => `one of ${values.join(', ')}`

const within = ({ min, max }: Validation, answer: number | string): Checked => {
  if (min !== undefined && answer < min) return { reason: `must not be below ${min}` }
  if (max !== undefined && answer > max) return { reason: `must not be above ${max}` }
  return { answer }
}

const text = ({ min_length, max_length, pattern }: Validation, answer: string): Checked => {
  const length = Array.from(answer).length
  const longest = max_length ?? longestText
  const most = pattern === undefined ? longest : Math.min(longest, longestMatchedText)
  if (answer === '') return { reason: 'must not be empty: send null to remove an answer' }
  if (length > most) return { reason: `must not be longer than ${most} characters` }
  if (length < (min_length ?? 0)) return { reason: `must not be shorter than ${min_length} characters` }
  if (/(?![\n\t])\p{Cc}/u.test(answer) || !answer.isWellFormed()) return { reason: 'must not hold control characters' }
  if (pattern !== undefined && !matchesPattern(pattern, answer)) return { reason: `must match ${pattern}` }
  return { answer }
}

const selection = ({ min_length, max_length }: Validation, answer: string[]): Checked => {
  if (answer.length < (min_length ?? 0)) return { reason: `must select at least ${min_length}` }
  if (answer.length > (max_length ?? Infinity)) return { reason: `must not select more than ${max_length}` }
  return { answer }
}
