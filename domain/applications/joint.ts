import type { ReleaseQuestion } from '../catalogue/events.ts'
import type { LifeKeys } from '../catalogue/record.ts'
import { changeAnswers, settleAnswers, type AnswerChange } from './answers.ts'
import type { Answers } from './events.ts'
import type { Fields } from '../rejection.ts'

/** Both people's answers, as the application holds them. */
export type BothAnswers = { readonly first: Answers; readonly partner: Answers }

/** All that the second person has answered: what is asked once, and their own. */
export const answersOfPartner = (lifeKeys: LifeKeys, { first, partner }: BothAnswers): Answers => ({
  ...Object.fromEntries(Object.entries(first).filter(([key]) => !lifeKeys.has(key))),
  ...partner,
})

/** The change that sent answers of the second person make. */
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

/** The change to the second person's answers when those of the application have changed. */
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
