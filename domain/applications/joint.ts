import type { Derivation, Release, ReleaseJourney, ReleaseQuestion } from '../catalogue/events.ts'
import { rateTableAnswers } from '../rating/cover.ts'
import { changeAnswers, settleAnswers, type AnswerChange } from './answers.ts'
import type { Answers } from './events.ts'
import type { Fields } from '../rejection.ts'

/** The keys of the questions that each person answers for themselves. All others are asked once for the application. */
export type LifeKeys = ReadonlySet<string>

export const lifeKeysOf = (release: Release, { questions }: Pick<ReleaseJourney, 'questions'>): LifeKeys => {
  const shared = sharedKeys(release)
  const isShared = (key: string): boolean => {
    const question = questions.find((each) => each.key === key)
    return question?.derivation ? sourcesOf(question.derivation).some(isShared) : shared.has(key)
  }
  return new Set(questions.map(({ key }) => key).filter((key) => !isShared(key)))
}

/** The answers that choose what is bought: for whom, how many people, which add-ons, from which rate table. */
const sharedKeys = ({ joint, covers, smoker, underwriting, factors }: Release): ReadonlySet<string> => {
  const ofLife = new Set([
    ...(smoker ? [smoker.key] : []),
    ...underwriting.rules.flatMap(({ when }) => [when].flat().map(({ key }) => key)),
    ...factors.by_answer.map(({ key }) => key),
  ])
  const choosing = covers.flatMap(({ members_factor, opt_in_factor, rate_table }) => [
    members_factor,
    opt_in_factor,
    ...rateTableAnswers(rate_table ?? ''),
  ])
  const shared = [
    joint.mode === 'by_answer' ? joint.factor_key : null,
    ...choosing.filter((key) => !ofLife.has(key ?? '')),
  ]
  return new Set(shared.filter((key) => key !== null))
}

const sourcesOf = (derivation: Derivation): readonly string[] => {
  switch (derivation.kind) {
    case 'age':
      return [derivation.key]
    case 'bmi':
      return [derivation.height_cm, derivation.weight_kg]
    case 'sum':
    case 'any':
      return derivation.keys
  }
}

/** What the application holds of both people's answers. */
export type BothAnswers = { readonly first: Answers; readonly partner: Answers }

/** All that the second person has answered: what is asked once, and their own. */
export const answersOfPartner = (lifeKeys: LifeKeys, { first, partner }: BothAnswers): Answers => ({
  ...Object.fromEntries(Object.entries(first).filter(([key]) => !lifeKeys.has(key))),
  ...partner,
})

/** What sending some of the second person's answers leads to. */
export const changePartnerAnswers = (
  questions: readonly ReleaseQuestion[],
  lifeKeys: LifeKeys,
  both: BothAnswers,
  sent: Readonly<Record<string, unknown>>,
  today: string,
): { readonly change: AnswerChange; readonly fields: Fields } => {
  const isShared = (key: string) => !lifeKeys.has(key) && questions.some((question) => question.key === key)
  const shared = Object.keys(sent).filter(isShared)
  const own = Object.fromEntries(Object.entries(sent).filter(([key]) => !isShared(key)))
  const { change, fields } = changeAnswers(questions, answersOfPartner(lifeKeys, both), own, today)
  const reasons = shared.map(
    (key) => [`answers.${key}`, 'is asked once: save it with the answers of the application'] as const,
  )
  return { change: ownPart(lifeKeys, change), fields: { ...fields, ...Object.fromEntries(reasons) } }
}

/** What becomes of the second person's answers when those of the application have changed. */
export const settlePartnerAnswers = (
  questions: readonly ReleaseQuestion[],
  lifeKeys: LifeKeys,
  both: BothAnswers,
  today: string,
): AnswerChange => ownPart(lifeKeys, settleAnswers(questions, answersOfPartner(lifeKeys, both), today))

const ownPart = (lifeKeys: LifeKeys, { saved, removed }: AnswerChange): AnswerChange => ({
  saved: Object.fromEntries(Object.entries(saved).filter(([key]) => lifeKeys.has(key))),
  removed: removed.filter((key) => lifeKeys.has(key)),
})
