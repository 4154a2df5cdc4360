import { rateTableAnswers } from '../rating/cover.ts'
import type { Derivation, Release, ReleaseJourney } from './events.ts'

/** The keys of the questions that each person answers for themselves. All others are asked once for the application. */
export type LifeKeys = ReadonlySet<string>

/** The release fields that decide which answers concern a life. */
type Priced = Pick<Release, 'joint' | 'covers' | 'smoker' | 'underwriting' | 'factors'>

export const lifeKeysOf = (release: Priced, { questions }: Pick<ReleaseJourney, 'questions'>): LifeKeys => {
  const shared = sharedKeys(release)
  const isShared = (key: string): boolean => {
    const question = questions.find((each) => each.key === key)
    return question?.derivation ? sourcesOf(question.derivation).some(isShared) : shared.has(key)
  }
  return new Set(questions.map(({ key }) => key).filter((key) => !isShared(key)))
}

/** The answers that choose what is bought: for whom, how many people, which add-ons, from which rate table. */
const sharedKeys = ({ joint, covers, smoker, underwriting, factors }: Priced): ReadonlySet<string> => {
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
