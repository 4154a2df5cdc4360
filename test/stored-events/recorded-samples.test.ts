import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { recordedSamplesFile } from './recorded-samples.ts'
import { samples } from './samples.ts'

test('every stored sample is known when the folds of the next event are recorded', () => {
  const names = samples.map(({ name }) => name).toSorted()
  if (process.env['RECORD_SAMPLES'] === '1') writeFileSync(recordedSamplesFile, `${JSON.stringify(names, null, 2)}\n`)
  expect(JSON.parse(readFileSync(recordedSamplesFile, 'utf8')), 'A sample is new: npm run record-folds.').toEqual(names)
})
