import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'

const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8')

test('what is compared with other deliverers is shown in tests that exist, and measured by commands that exist', async () => {
  const guide = await read('docs/deliverers.md')
  const rows = guide.split('\n').filter((line) => /^\| (?!Line|Command|-|`)/.test(line))
  const shown = rows.map((row) => /`([\w/-]+\.test\.ts)`: (.+?) *\|$/.exec(row)?.slice(1) ?? [row])
  const missing: unknown[] = []
  for (const [file = '', title] of shown) {
    const source = title === undefined ? '' : await read(`test/${file}`)
    if (title === undefined || !source.includes(title)) missing.push([file, title])
  }

  expect(rows.length).toBeGreaterThan(20)
  expect(missing).toEqual([])
  const { scripts } = JSON.parse(await read('package.json')) as { scripts: Record<string, string> }
  for (const [, name = ''] of guide.matchAll(/`npm run ([\w:]+)/g)) expect(scripts).toHaveProperty([name])
  for (const [, file = ''] of guide.matchAll(/`node ([\w/.-]+\.ts)/g)) expect(await read(file)).not.toBe('')
})
