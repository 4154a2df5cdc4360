import type { Release, ReleaseJourney, ReleaseQuestion } from '../catalogue/events.ts'
import { lifeKeysOf } from '../catalogue/record.ts'
import type { Fields } from '../rejection.ts'
import { isAsked } from './answers.ts'
import type { Answers } from './events.ts'
import { answersOfPartner } from './joint.ts'
import { isJoint } from './record.ts'
import type { ApplicationState } from './state.ts'

export const required = (fields: readonly string[]): Fields =>
  Object.fromEntries(fields.map((field) => [field, 'required']))

/** The answers without which there is no quote: of every question that is required and asked, of the partner too. */
export const missingForQuote = (
  { release, journey }: { readonly release: Release; readonly journey: ReleaseJourney },
  { record, partner_answers }: ApplicationState,
): Fields => {
  const { risk_factors } = record
  const first = unanswered(journey.questions, risk_factors).map((key) => `answers.${key}`)
  if (!isJoint(release.joint, risk_factors)) return required(first)

  const lifeKeys = lifeKeysOf(release, journey)
  const answers = answersOfPartner(lifeKeys, { first: risk_factors, partner: partner_answers })
  const second = unanswered(journey.questions, answers).filter((key) => lifeKeys.has(key))
  return required([...first, ...second.map((key) => `partner.answers.${key}`)])
}

const unanswered = (questions: readonly ReleaseQuestion[], answers: Answers): readonly string[] =>
  questions
    .filter(
      (question) =>
        question.required &&
        question.question_type !== 'derived' &&
        !Object.hasOwn(answers, question.key) &&
        isAsked(question, answers),
    )
    .map(({ key }) => key)

type Mapping = readonly { readonly field: string; readonly key: string }[]

/** The answers of one person that the providers of a market search need. */
export const missingForProviders = (
  journey: ReleaseJourney,
  mapping: Mapping,
  answers: Answers,
  path: string,
): Fields =>
  Object.fromEntries(
    mapping
      .filter(({ key }) => {
        const question = journey.questions.find((each) => each.key === key)
        return !Object.hasOwn(answers, key) && (!question || isAsked(question, answers))
      })
      .map(({ key }) => [`${path}answers.${key}`, 'required']),
  )
