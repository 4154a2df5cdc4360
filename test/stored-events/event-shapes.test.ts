import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { shapeLines } from './shape-lines.ts'
import { allEvents, eventFiles, typesIn } from './shapes.ts'

/**
 * An event that was accepted once is read for ever, and a value that was refused once may be relied on. So what each version
 * of each event may hold is recorded in `shapes/`, for each capability: a line for each place in its data.
 */

const Shapes = z.record(z.string(), z.record(z.string(), z.string()))
type Shapes = z.infer<typeof Shapes>

const shapesOf = async (file: string): Promise<Shapes> => {
  const shapes: Shapes = {}
  for (const type of await typesIn(file)) {
    const found = allEvents.get(type)
    if (!found) throw new Error(`There is no event called ${type}.`)
    shapes[`${type} v${found.version}`] = shapeLines(found.schema)
  }
  return shapes
}

const fileOf = (capability: string) => resolve(import.meta.dirname, 'shapes', `${capability}.json`)

const recordedShapes = (capability: string): Shapes =>
  existsSync(fileOf(capability)) ? Shapes.parse(JSON.parse(readFileSync(fileOf(capability), 'utf8'))) : {}

const isRecording = process.env['RECORD_FOLDS'] === '1'

test.each(eventFiles)('the events of %s hold what was recorded for their version', async (file) => {
  const capability = basename(dirname(file))
  const shapes = await shapesOf(file)

  if (isRecording && Object.keys(shapes).length > 0)
    writeFileSync(fileOf(capability), `${JSON.stringify(shapes, null, 2)}\n`)
  else
    expect(
      shapes,
      'What an event may hold has changed. Is all that was stored still read? Then npm run record-folds, and look at what it has written.',
    ).toEqual(recordedShapes(capability))
})
