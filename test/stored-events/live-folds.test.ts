import { expect, test } from 'vitest'
import { categoryOf } from '#domain/event.ts'
import { besideVersion, keptByFold } from './kept.ts'
import { liveFolds } from './live-folds.ts'
import { samples } from './samples.ts'

test.each(liveFolds)('$fold.name: what is kept of the stored events is what was recorded for its version', (each) => {
  const { fold, empty } = each

  const { now, recorded, why } = besideVersion(fold.name, keptByFold(fold, empty()))

  expect(now, `${fold.name}: ${why}`).toEqual(recorded)
})

test.each(liveFolds)('$fold.name: it follows the streams where its events are stored', ({ fold }) => {
  const stored = samples.filter(({ event }) => Object.hasOwn(fold.events, event.type))

  expect(new Set(fold.categories)).toEqual(new Set(stored.map(({ event }) => categoryOf(event.stream))))
})
