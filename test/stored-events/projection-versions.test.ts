import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { categoryOf, fromStored, type RecordedEvent } from '#domain/event.ts'
import type { SomeProjection } from '../../projections/projection.ts'
import { allProjections } from '../../projections/all-projections.ts'
import { changesOf } from './row-changes.ts'
import { isRecordedSample } from './recorded-samples.ts'
import { samples } from './samples.ts'

/**
 * A read model is made anew only when the version of its projection is raised. So what each version makes of the stored
 * samples is recorded in `folds/`, with its table.
 */

const Fold = z.strictObject({
  version: z.int(),
  table: z.unknown(),
  /** What each event has made of the rows that it touched; null: deleted. */
  after: z.record(z.string(), z.array(z.unknown())),
})
type Fold = z.infer<typeof Fold>

type Row = Readonly<Record<string, unknown>>
type Keys = (event: unknown, recorded: RecordedEvent) => readonly Row[]
type Project = (
  row: Row | undefined,
  event: unknown,
  recorded: RecordedEvent,
  key: Row,
  before: (key: Row) => Row | undefined,
) => Row | undefined

type Columns = SomeProjection['table']['columns']

const foldOf = (
  { version, table, categories, events, ...projection }: SomeProjection,
  asFound: (row: Row, columns: Columns) => Row = (row) => row,
): Fold => {
  const keys = projection.keys as Keys
  const project = projection.project as Project
  const rows = new Map<string, Row>()
  const identityOf = (key: Row) => JSON.stringify(table.key.map((name) => key[name]))
  const touch = (keysOf: readonly Row[], event: unknown, recorded: RecordedEvent) => {
    const found = (key: Row) => rows.get(identityOf(key))
    const touched = keysOf.map((key) => ({
      key,
      before: found(key),
      row: project(found(key), event, recorded, key, found),
    }))
    return touched.map(({ key, before, row }) => {
      if (row) rows.set(identityOf(key), asFound(row, table.columns))
      else rows.delete(identityOf(key))
      return row ? changesOf(asJson(before), asJson(row)) : null
    })
  }
  const own = samples.filter(
    ({ event }) => categories.includes(categoryOf(event.stream)) && Object.hasOwn(events, event.type),
  )
  const after = own.map(({ name, event: recorded }) => {
    const event = fromStored(events, recorded)
    return [name, touch(keys(event, recorded), event, recorded)] as const
  })
  return Fold.parse(asJson({ version, table, after: Object.fromEntries(after) }))
}

const asJson = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)))

const fileOf = ({ name }: SomeProjection) => resolve(import.meta.dirname, 'folds', `${name}.json`)

const recordedFold = (projection: SomeProjection): Fold | undefined =>
  existsSync(fileOf(projection)) ? Fold.parse(JSON.parse(readFileSync(fileOf(projection), 'utf8'))) : undefined

/** The part of a fold that the recorded one must have: an event that is new changes nothing for those that there were before. */
const knownPart = ({ after, ...fold }: Fold): Fold => ({
  ...fold,
  after: Object.fromEntries(Object.entries(after).filter(([name]) => isRecordedSample(name))),
})

const isRecording = process.env['RECORD_FOLDS'] === '1'

test.each(allProjections)('$name makes of the stored events what was recorded for its version', (projection) => {
  const fold = foldOf(projection)
  const recorded = recordedFold(projection)

  if (recorded && recorded.version >= fold.version)
    expect(
      knownPart(fold),
      `${projection.name} makes another table of the same events: raise its version above ${recorded.version}, then npm run record-folds.`,
    ).toEqual(recorded)
  if (isRecording) writeFileSync(fileOf(projection), `${JSON.stringify(fold, null, 2)}\n`)
  else
    expect(fold, 'The version or an event is new: npm run record-folds, and look at what it has written.').toEqual(
      recorded,
    )
})

test('whoever reads the read models knows their versions', () => {
  const file = resolve(import.meta.dirname, '../../infra/read-models.json')
  const versions = Object.fromEntries(allProjections.map(({ name, version }) => [name, version]))

  if (isRecording) writeFileSync(file, `${JSON.stringify(versions, null, 2)}\n`)
  else expect(JSON.parse(readFileSync(file, 'utf8')), 'A version is new: npm run record-folds.').toEqual(versions)
})

/** Kept rows are handed to the fold more than once. */
const kept = (value: unknown): unknown => {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(kept)
  return value
}

/** As it is read: with nothing that JSON cannot hold, and every column. */
const asRead = (row: Row, columns: Columns): Row =>
  Object.fromEntries(
    Object.entries(columns).map(([name, type]) => {
      const value = asJson(row[name]) ?? null
      if (typeof value !== 'string') return [name, value]
      if (type === 'uuid') return [name, value.toLowerCase()]
      return [name, type === 'timestamptz' ? new Date(value).toISOString() : value]
    }),
  )

test.each(allProjections)('$name: a row that was kept makes of an event what one that was read makes', (projection) => {
  expect(foldOf(projection, (row) => kept(row) as Row).after).toEqual(foldOf(projection, asRead).after)
})
