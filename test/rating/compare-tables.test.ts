import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compareTables, isSameTable, mostSamples, type ComparedTable } from '#domain/rating/compare-tables.ts'

const byAge: ComparedTable = {
  currency_code: 'GBP',
  dimensions: ['age', 'smoker'],
  cells: { '30|n': 100, '30|s': 300, '40|n': 200, '40|s': 600 },
}

const withCells = (cells: ComparedTable['cells']): ComparedTable => ({ ...byAge, cells })

describe('Two rate tables compared', () => {
  test('a table has no difference from itself', () => {
    expect(compareTables(byAge, byAge)).toEqual({
      cells_before: 4,
      cells_after: 4,
      currency_code: null,
      dimensions: { added: [], removed: [] },
      values: [],
      added: { count: 0, samples: [] },
      removed: { count: 0, samples: [] },
      changed: { count: 0, samples: [] },
      ratio: null,
    })
  })

  test('given all rates times ten, all have changed, by ten', () => {
    const after = withCells({ '30|n': 1000, '30|s': 3000, '40|n': 2000, '40|s': 6000 })

    expect(compareTables(byAge, after, 2)).toMatchObject({
      changed: {
        count: 4,
        samples: [
          { at: { age: '30', smoker: 'n' }, before: 100, after: 1000 },
          { at: { age: '30', smoker: 's' }, before: 300, after: 3000 },
        ],
      },
      ratio: { smallest: 10, largest: 10 },
    })
  })

  test('given several changes, the largest comes first, whether it goes up or down', () => {
    const after = withCells({ '30|n': 101, '30|s': 600, '40|n': 50, '40|s': 600 })

    const { changed, ratio } = compareTables(byAge, after)

    expect(changed).toEqual({
      count: 3,
      samples: [
        { at: { age: '40', smoker: 'n' }, before: 200, after: 50 },
        { at: { age: '30', smoker: 's' }, before: 300, after: 600 },
        { at: { age: '30', smoker: 'n' }, before: 100, after: 101 },
      ],
    })
    expect(ratio).toEqual({ smallest: 0.25, largest: 2 })
  })

  test('given an age that is gone and another that is new, both are named, and their cells', () => {
    const after = withCells({ '9|n': 90, '10|n': 95, '30|n': 100, '30|s': 300 })

    expect(compareTables(byAge, after)).toMatchObject({
      cells_before: 4,
      cells_after: 4,
      values: [{ dimension: 'age', added: ['9', '10'], removed: ['40'] }],
      added: {
        count: 2,
        samples: [
          { at: { age: '9', smoker: 'n' }, before: null, after: 90 },
          { at: { age: '10', smoker: 'n' }, before: null, after: 95 },
        ],
      },
      removed: {
        count: 2,
        samples: [
          { at: { age: '40', smoker: 'n' }, before: 200, after: null },
          { at: { age: '40', smoker: 's' }, before: 600, after: null },
        ],
      },
      changed: { count: 0 },
    })
  })

  test('given other dimensions, no cell of one is a cell of the other', () => {
    const after: ComparedTable = { ...byAge, dimensions: ['age', 'variant'], cells: { '30|n': 100, '30|b': 110 } }

    expect(compareTables(byAge, after)).toMatchObject({
      dimensions: { added: ['variant'], removed: ['smoker'] },
      values: [{ dimension: 'age', added: [], removed: ['40'] }],
      added: { count: 2 },
      removed: { count: 4 },
      changed: { count: 0 },
      ratio: null,
    })
  })

  test('given another currency, the same rates are not the same table', () => {
    const compared = compareTables(byAge, { ...byAge, currency_code: 'EUR' })

    expect(compared.currency_code).toEqual({ before: 'GBP', after: 'EUR' })
    expect(isSameTable(compared)).toBe(false)
    expect(isSameTable(compareTables(byAge, byAge))).toBe(true)
  })
})

const key = fc
  .tuple(fc.integer({ min: 0, max: 12 }), fc.constantFrom('n', 's'))
  .map(([age, smoker]) => `${age}|${smoker}`)
const tables = fc.dictionary(key, fc.integer({ min: 1, max: 1_000_000 }), { minKeys: 1 }).map(withCells)

test('the other way round, what was added is removed, and ratios are upside down', () => {
  fc.assert(
    fc.property(tables, tables, (one, other) => {
      const there = compareTables(one, other)
      const back = compareTables(other, one)

      const turned = ({ samples, count }: typeof there.added) => ({
        count,
        samples: samples.map(({ at, before, after }) => ({ at, before: after, after: before })),
      })
      expect(turned(back.removed)).toEqual(there.added)
      expect(turned(back.added)).toEqual(there.removed)
      expect(turned(back.changed)).toEqual(there.changed)
      expect(back.values).toEqual(
        there.values.map(({ dimension, added, removed }) => ({ dimension, added: removed, removed: added })),
      )
      if (there.ratio) {
        expect((back.ratio?.largest ?? 0) * there.ratio.smallest).toBeCloseTo(1, 9)
        expect((back.ratio?.smallest ?? 0) * there.ratio.largest).toBeCloseTo(1, 9)
      } else expect(back.ratio).toBeNull()
    }),
  )
})

test('every cell is counted once, samples are bounded, and the order of cells in a table changes nothing', () => {
  fc.assert(
    fc.property(tables, tables, (one, other) => {
      const compared = compareTables(one, other)
      const { added, removed, changed, cells_before, cells_after } = compared

      const kept = Object.entries(one.cells).filter(([cell, rate]) => other.cells[cell] === rate).length
      expect(removed.count + changed.count + kept).toBe(cells_before)
      expect(added.count + changed.count + kept).toBe(cells_after)
      for (const { count, samples } of [added, removed, changed])
        expect(samples.length).toBe(Math.min(count, mostSamples))
      const reversed = (table: ComparedTable) => withCells(Object.fromEntries(Object.entries(table.cells).toReversed()))
      expect(compareTables(reversed(one), reversed(other))).toEqual(compared)
    }),
  )
})
