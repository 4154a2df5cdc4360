import { expect, test } from 'vitest'
import { rateTable, type RateTableCommand } from '#domain/catalogue/rate-table.ts'
import { rejected, scenariosOf } from '../scenario.ts'
import { organisation_id } from './builders.ts'
import type { RateTableEvent, RateTable } from '#domain/rating/events.ts'

const scenario = scenariosOf(rateTable)

const table = (cells: RateTable['cells']): RateTable => ({
  key: 'life.level',
  version: 1,
  currency_code: 'GBP',
  unit: 'rate_e4',
  dimensions: ['age', 'term', 'smoker'],
  cells,
  source_note: '',
})
const publish = (cells: RateTable['cells']): RateTableCommand => ({
  type: 'PublishRateTable',
  organisation_id,
  table: table(cells),
})
const published = (cells: RateTable['cells']): RateTableEvent => ({
  type: 'RateTablePublished',
  organisation_id,
  table: table(cells),
})

const cells = { '30|10|n': 23360, '30|10|s': 56052 }

scenario('a version of a rate table is published', { given: [], when: publish(cells), then: [published(cells)] })
scenario('publishing the same content again is no event', {
  given: [published(cells)],
  when: publish({ '30|10|s': 56052, '30|10|n': 23360 }),
  then: [],
})
scenario('a published version does not take other content', {
  given: [published(cells)],
  when: publish({ ...cells, '30|10|s': 56053 }),
  then: rejected(
    'conflict',
    undefined,
    'Version 1 of life.level is published with other content. Publish a new version.',
  ),
})

test('rate tables have streams of their own', () => {
  expect(rateTable.category).toBe('rate_table')
})
