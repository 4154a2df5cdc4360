import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..', '..')
const migrations = join(root, 'infra', 'postgres', 'migrations')

test('the guide for operators says of every table what bounds it', async () => {
  const files = (await readdir(migrations)).filter((name) => name.endsWith('.sql'))
  const texts = await Promise.all(files.map((name) => readFile(join(migrations, name), 'utf8')))
  const made = texts.flatMap((text) =>
    [...text.matchAll(/create (?:unlogged )?table (?:if not exists )?([a-z_.]+)/g)].map(([, name]) => name),
  )
  const guide = await readFile(join(root, 'docs', 'operate.md'), 'utf8')
  const rows = guide.split('\n').filter((line) => line.startsWith('| `'))
  const named = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([a-z_.]+)`/g)].map(([, name]) => name))

  expect(made.filter((name) => !named.includes(name))).toEqual([])
})
