import { expect, test } from 'vitest'
import { versionBeside } from '../../command-api/catalogue/earlier-table.ts'

test.each([
  [2, [1], 1],
  [20_260_401, [20_250_401, 20_240_401], 20_250_401],
  [2, [1, 3], 1],
  [1, [2, 3], 3],
  [1, [1], undefined],
  [1, [], undefined],
])('version %i is shown, of %j, beside %s', (version, others, beside) => {
  expect(versionBeside(version, others)).toBe(beside)
})
