import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { readmeWithTable } from '../scripts/readme-table.ts'

test('the README lists every variable of the environment as the configuration declares it', async () => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')

  expect(readme).toBe(readmeWithTable(readme))
})
