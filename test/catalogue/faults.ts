import { expect, test } from 'vitest'
import { draftFaults, type FindTable } from '#domain/catalogue/draft-faults.ts'
import type { Draft, ReleaseCover, ReleaseJourney, ReleaseQuestion } from '#domain/catalogue/events.ts'
import type { Presentation } from '#domain/catalogue/record.ts'
import { draft, levelTable } from './builders.ts'

/** What is wrong with a draft: the path of each fault, as callers read it, and the reason. */
export const faultsOf = (
  of: Draft,
  table: FindTable = levelTable,
): readonly (readonly [path: string, reason: string])[] =>
  draftFaults(of, table).map(({ path, reason }) => [
    path
      .map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`))
      .join('')
      .slice(1),
    reason,
  ])

const changed = (change: (of: Draft) => unknown): Draft => {
  const of = structuredClone(draft())
  change(of)
  return of
}

/** What is wrong with the usual draft after a change, by path, each reason containing the given text. */
export const faulty = (title: string, change: (of: Draft) => unknown, expected: Record<string, string>): void =>
  test(title, () => {
    const reasons = Object.entries(expected).map(
      ([path, part]) => [path, expect.stringContaining(part) as unknown] as const,
    )
    expect(Object.fromEntries(faultsOf(changed(change)))).toEqual(Object.fromEntries(reasons))
  })

export const faultless = (title: string, change: (of: Draft) => unknown, table?: FindTable): void =>
  test(title, () => {
    expect(faultsOf(changed(change), table)).toEqual([])
  })

const found = <Item>(item: Item | undefined): Item => {
  if (item === undefined) throw new Error('The usual draft has changed.')
  return item
}
export const cover = (of: Draft): ReleaseCover => found(of.covers[0])
export const journey = (of: Draft, index = 0): ReleaseJourney => found(of.journeys[index])
export const question = (of: Draft, key: string): ReleaseQuestion =>
  found(journey(of).questions.find((each) => each.key === key))
export const option = (of: Draft, index = 0) => found(question(of, 'heart').answer_options[index])
export const presentation = (of: Draft, index = 0): Presentation => found(journey(of).presentations[index])
export const stage = (of: Draft, type: string) =>
  found(
    journey(of)
      .presentations.flatMap(({ stages }) => stages)
      .find(({ stage_type }) => stage_type === type),
  )

/** What makes the usual draft one that a market panel prices. */
export const wholeOfMarket: Pick<Draft, 'whole_of_market' | 'market'> = {
  whole_of_market: true,
  market: { mapping: [{ field: 'smoker', key: 'smoker' }], time_limit_seconds: 30, valid_days: 30 },
}
