import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'

const folder = resolve(import.meta.dirname, '../../infra/postgres/migrations')
const file = resolve(import.meta.dirname, 'migrations.json')

const digest = (text: string) => createHash('sha256').update(text).digest('hex')
const Digests = z.record(z.string(), z.string())

test('a migration is never changed, since databases that have it would be refused: what changes is a new one', () => {
  const recorded = Digests.parse(JSON.parse(readFileSync(file, 'utf8')))
  const present = Object.fromEntries(
    readdirSync(folder)
      .toSorted()
      .map((name) => [name, digest(readFileSync(resolve(folder, name), 'utf8').replaceAll('\r\n', '\n'))]),
  )

  // Of what was recorded before, nothing is recorded anew.
  if (process.env['RECORD_FOLDS'] === '1')
    writeFileSync(file, `${JSON.stringify({ ...present, ...recorded }, null, 2)}\n`)
  else expect(present, 'A new migration is recorded by npm run record-folds.').toEqual(recorded)
})
