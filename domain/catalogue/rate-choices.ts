import { rateTableAnswers, rateTableOf } from '../rating/cover.ts'
import type { Draft, ReleaseCover } from './events.ts'

type RateChoice = { readonly key: string; readonly variant: string | undefined }

/** The tables, and the variants in them, that a rated cover can be priced from: one for each way to answer. */
export const rateChoices = (draft: Draft, { rate_table }: ReleaseCover): readonly RateChoice[] =>
  rate_table === null
    ? []
    : answerChoices(draft, rateTableAnswers(rate_table)).map((chosen) =>
        rateTableOf(rate_table, (answer) => chosen.get(answer)),
      )

/** Each way in which these questions can be answered by their options; a free answer leaves its part of the key open. */
const answerChoices = (draft: Draft, keys: readonly string[]): readonly ReadonlyMap<string, string>[] =>
  keys.reduce<readonly ReadonlyMap<string, string>[]>(
    (ways, key) => ways.flatMap((way) => valuesOf(draft, key).map((value) => new Map(way).set(key, value))),
    [new Map()],
  )

const valuesOf = ({ journeys, underwriting }: Draft, key: string): readonly string[] => {
  const derived = underwriting.derived.find((value) => value.key === key)
  if (derived?.kind === 'mapped') {
    const values = [...Object.values(derived.values), ...(derived.otherwise === undefined ? [] : [derived.otherwise])]
    return [...new Set(values.map(String))]
  }
  const options = journeys.flatMap(({ questions }) =>
    questions.filter((question) => question.key === key).flatMap(({ answer_options }) => answer_options),
  )
  return [...new Set(options.map(({ value }) => value))]
}
