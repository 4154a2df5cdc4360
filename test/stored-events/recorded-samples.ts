import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { z } from 'zod'

/** The names of the samples that there were when the folds were last recorded, one on a line. */
export const recordedSamplesFile = resolve(import.meta.dirname, 'recorded-samples.json')

const recorded: ReadonlySet<string> = new Set(
  z.array(z.string()).parse(JSON.parse(readFileSync(recordedSamplesFile, 'utf8'))),
)

/**
 * True for an event that may be stored already: a fold that begins to follow it lacks those that there are, unless its version
 * is raised.
 */
export const isRecordedSample = (name: string): boolean => recorded.has(name)
