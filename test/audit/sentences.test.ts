import { expect, test } from 'vitest'
import { fromStored } from '#domain/event.ts'
import { storedEvents } from '#domain/stored-events.ts'
import { withoutPeople } from '../../query-api/audit/record-history.ts'
import { sentenceOf, sentencesOf } from '../../query-api/audit/sentences/all.ts'
import type { Told } from '../../query-api/audit/folds.ts'
import { samples } from '../stored-events/samples.ts'

const pounds = (pence: number | null) => (pence === null ? 'an unknown amount' : `£${pence / 100}`)
const toldBy = (event: (typeof samples)[number]['event']) => fromStored(storedEvents, event) as Told

test('there is a sentence for every event that is stored, and for no other', () => {
  expect(sentencesOf.toSorted()).toEqual(Object.keys(storedEvents).toSorted())
})

test.each(samples.map(({ name, event }) => ({ name, told: toldBy(event) })))(
  '$name is told in a sentence, with or without its people',
  ({ told }) => {
    for (const each of [told, withoutPeople(told)]) {
      const sentence = sentenceOf(told.type, each, pounds)
      expect(sentence).toMatch(/^[A-Z£\d].*\.$/su)
      expect(sentence).not.toMatch(/undefined|null|NaN|\[object/)
    }
  },
)

test.each(samples.map(({ name, event }) => ({ name, told: toldBy(event) })))(
  '$name is told in the same words when its people are erased: nothing in them is personal',
  ({ told }) => {
    expect(sentenceOf(told.type, told, pounds)).toBe(sentenceOf(told.type, withoutPeople(told), pounds))
  },
)
