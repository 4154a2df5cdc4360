import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..', '..')
const guide = await readFile(join(root, 'docs', 'noticed-changes.md'), 'utf8')

test('the figures of noticed changes are of every folder of the domain, and of none that is gone', async () => {
  const entries = await readdir(join(root, 'domain'), { withFileTypes: true })
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  const counted = [...guide.matchAll(/^\| `(.+?)` /gm)].map(([, name]) => name)

  expect(new Set(counted)).toEqual(new Set([...folders, 'domain/*.ts']))
  expect(counted).toHaveLength(folders.length + 1)
})

test('what is known to come to the same is in a file that there is', () => {
  const places = [...guide.matchAll(/^- (.+?):/gms)].flatMap(([, named = '']) =>
    [...named.matchAll(/`([\w/.-]+)`/g)].map(([, place = '']) => place),
  )

  expect(places.length).toBeGreaterThan(20)
  expect(places.filter((place) => !existsSync(join(root, 'domain', place)))).toEqual([])
})
