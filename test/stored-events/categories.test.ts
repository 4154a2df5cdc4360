import { globSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import type { EventShapes } from '#domain/event.ts'
import { categoryOf } from '#domain/event.ts'
import { samples } from './samples.ts'

type Writer = { readonly category: string; readonly events: EventShapes; readonly decide: unknown }

const isWriter = (exported: unknown): exported is Writer =>
  typeof exported === 'object' && exported !== null && 'decide' in exported && 'category' in exported

const root = resolve(import.meta.dirname, '../..')

/** Everything in the domain that decides what is written. */
const writers = (
  await Promise.all(
    globSync('domain/**/*.ts', { cwd: root }).map(async (file) =>
      Object.values((await import(resolve(root, file))) as Record<string, unknown>),
    ),
  )
)
  .flat()
  .filter(isWriter)

test('there are deciders', () => {
  expect(writers.length).toBeGreaterThan(30)
})

test.each(writers)('$category: its events are stored in the streams where they always were', ({ category, events }) => {
  const stored = samples.filter(({ event }) => Object.hasOwn(events, event.type))

  expect(new Set(stored.map(({ event }) => categoryOf(event.stream)))).toEqual(new Set([category]))
})
