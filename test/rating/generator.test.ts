import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { generateTable, tableDesigns } from '#domain/rating/generator.ts'
import { toRateCsv } from '#domain/rating/rate-table-csv.ts'
import { published, tables } from './request.ts'
import { RateTable } from '#domain/rating/events.ts'

const ratesFolder = join(import.meta.dirname, '../../demo/rates')

const cellsOf = (key: string) => {
  const table = tables.get(key)
  if (!table) throw new Error(`There is no table ${key}.`)
  return table.cells
}

/** Non-smoker and smoker. */
const levelLife: readonly (readonly [age: number, byTerm: Record<number, readonly [number, number]>])[] = [
  [20, { 10: [12689, 30450], 15: [14021, 33644], 20: [15321, 36758], 25: [16605, 39828], 30: [17847, 42788] }],
  [25, { 10: [16669, 39999], 15: [18902, 45350], 20: [21051, 50491], 25: [23130, 55453], 30: [24975, 59840] }],
  [30, { 10: [23360, 56052], 15: [26987, 64735], 20: [30430, 72959], 25: [33476, 80210], 30: [36278, 86844] }],
  [35, { 10: [34374, 82468], 15: [40105, 96173], 20: [45055, 107970], 25: [49650, 118865], 30: [54212, 129589] }],
  [40, { 10: [51946, 124599], 15: [59987, 143798], 20: [67422, 161457], 25: [74954, 179196], 30: [82148, 195920] }],
  [45, { 10: [77376, 185555], 15: [89537, 214513], 20: [101927, 243774], 25: [113869, 271611], 30: [125466, 298082] }],
  [50, { 10: [114459, 274361], 15: [135363, 323922], 20: [155173, 370293], 25: [174557, 414714] }],
  [55, { 10: [177327, 424693], 15: [210369, 502490], 20: [242467, 576510] }],
  [60, { 10: [280194, 670294], 15: [333535, 794410] }],
]

test.each(levelLife)('level life rates at %i', (age, byTerm) => {
  const cells = cellsOf('life.level')
  for (const [term, rates] of Object.entries(byTerm))
    expect([cells[`${age}|${term}|n`], cells[`${age}|${term}|s`]], `${term} years`).toEqual(rates)
})

test.each([
  ['ci.standalone', '30|20', 139328, 242532],
  ['ci.standalone', '30|25', 163651, 283622],
  ['ci.standalone', '40|20', 377261, 652648],
  ['ci.standalone', '40|25', 424151, 727991],
  ['ci.standalone', '50|20', 866359, 1485789],
  ['ci.accelerated', '30|25', 182319, 324070],
  ['ci.accelerated', '40|25', 468589, 823205],
  ['life.wol', '30', 361638, 491858],
  ['life.wol', '40', 620011, 831950],
  ['life.wol', '50', 1078395, 1422139],
  ['life.wol', '60', 1941313, 2503179],
  ['life.wol', '70', 3712497, 4611750],
])('rates of %s at %s', (key, point, nonSmoker, smoker) => {
  expect([cellsOf(key)[`${point}|n`], cellsOf(key)[`${point}|s`]]).toEqual([nonSmoker, smoker])
})

test.each([
  [30, 1542393, 1143348, 916734, 751039],
  [40, 2598197, 1862367, 1450282, 1149816],
  [50, 3947638, 2618297, 1906764, 1404828],
])('income protection rates at %i by deferred period', (age, ...rates) => {
  expect([4, 13, 26, 52].map((weeks) => cellsOf(`ip.to65.d${weeks}`)[`${age}|n`])).toEqual(rates)
})

test.each([
  ['life.level', '34|25|n', 45818],
  ['life.level', '36|25|s', 128875],
  ['ci.standalone', '34|25|n', 243716],
  ['ip.to65.d13', '34|n', 1405031],
])('the rate of %s at %s, from which a price is worked', (key, cell, rate) => {
  expect(cellsOf(key)[cell]).toBe(rate)
})

test.each([...tables])('a smoker pays more than a non-smoker in every cell of %s', (_, { cells }) => {
  const nonSmokers = Object.entries(cells).filter(([cell]) => cell.endsWith('|n'))
  const cheaper = nonSmokers.filter(([cell, rate]) => (cells[cell.replace('|n', '|s')] ?? 0) <= rate)
  expect(cheaper).toEqual([])
  expect(nonSmokers.length * 2).toBe(Object.keys(cells).length)
})

test('level life covers every age and term that term cover is sold for', () => {
  const cells = cellsOf('life.level')
  for (let age = 18; age <= 70; age++)
    for (let term = 5; term <= 40 && age + term <= 80; term++)
      expect(cells, `${age}|${term}`).toHaveProperty([`${age}|${term}|n`])
  expect(Object.keys(cells)).toHaveLength(2886)
})

test.each(tableDesigns.map((design) => [design.key, design] as const))(
  'the file of %s is what is generated',
  async (key, design) => {
    expect(await readFile(join(ratesFolder, `${key}.csv`), 'utf8')).toBe(toRateCsv(generateTable(design)))
  },
)

test('there is no file without a table', async () => {
  const files = (await readdir(ratesFolder)).filter((file) => file.endsWith('.csv')).toSorted()
  expect(files).toEqual(tableDesigns.map(({ key }) => `${key}.csv`).toSorted())
})

test.each(tableDesigns.map((design) => [design.key, design] as const))(
  '%s fits into one event, unharmed by JSON',
  (_, design) => {
    const table = published(generateTable(design))
    const stored = JSON.stringify(RateTable.parse(table))
    expect(RateTable.parse(JSON.parse(stored))).toEqual(table)
    expect(stored.length).toBeLessThan(100_000)
  },
)
