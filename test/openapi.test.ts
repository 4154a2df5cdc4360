import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { currentDocument } from '../scripts/openapi.ts'

test('the OpenAPI document that is served is the one that the routes describe (npm run openapi)', async () => {
  const served = await readFile(new URL('../query-api/documentation/openapi.json', import.meta.url), 'utf8')

  expect(served).toBe(currentDocument())
})
