import { bodyMassIndex } from './body-mass-index.ts'
import type { Condition, DerivedValue } from './events.ts'

/** A person's answers, by question key. */
export type Answers = Readonly<Record<string, unknown>>

/** An own entry of a record: keys may come from callers, so what every object inherits must not be found. */
export const entry = <Value>(record: Readonly<Record<string, Value>>, key: string): Value | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined

export const isAnswered = (answers: Answers, key: string): boolean => (entry(answers, key) ?? null) !== null

/** An answer as the part of a key; undefined where there is none, or one that is no single value. */
export const answerText = (answers: Answers, key: string): string | undefined => {
  const answer = entry(answers, key)
  return typeof answer === 'string' || typeof answer === 'number' || typeof answer === 'boolean'
    ? String(answer)
    : undefined
}

/** A question that was not answered fulfils no condition. */
export const isMet = (condition: Condition, answers: Answers): boolean => {
  const answer = entry(answers, condition.key)
  if ('equals' in condition) {
    const wanted: readonly unknown[] = Array.isArray(condition.equals) ? condition.equals : [condition.equals]
    return Array.isArray(answer) ? answer.some((chosen) => wanted.includes(chosen)) : wanted.includes(answer)
  }
  if (typeof answer !== 'number') return false
  const { min, above, max, below } = condition
  return (
    (min === undefined || answer >= min) &&
    (above === undefined || answer > above) &&
    (max === undefined || answer <= max) &&
    (below === undefined || answer < below)
  )
}

/** The answers with what follows from them. What cannot be worked out yet stays as it was. */
export const withDerived = (derived: readonly DerivedValue[], answers: Answers, age: number): Answers => {
  if (derived.length === 0) return answers
  const all: Record<string, unknown> = { ...answers }
  for (const value of derived) {
    const worked = derive(value, all, age)
    if (worked !== undefined) all[value.key] = worked
  }
  return all
}

const derive = (value: DerivedValue, answers: Answers, age: number) => {
  switch (value.kind) {
    case 'bmi':
      return bodyMassIndex(entry(answers, value.height_cm), entry(answers, value.weight_kg))
    case 'age':
      return age
    case 'mapped': {
      const answer = answerText(answers, value.from)
      return answer === undefined ? undefined : (entry(value.values, answer) ?? value.otherwise)
    }
  }
}
