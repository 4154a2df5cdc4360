import { expect, test } from 'vitest'
import { fromKnown, inKnown, measured, unitsOf } from '../../demo/sales-page/page/units.ts'

test.each([
  ['cm', 178, [5, 10]],
  ['cm', 182, [6, 0]],
  ['kg', 74.5, [11, 10]],
  ['kg', 76.2, [12, 0]],
  ['units', 6, undefined],
] as const)('%s: %d is %j in units that people know', (unit, value, pair) => {
  expect(inKnown(unit, value)).toEqual(pair)
})

test.each([
  ['cm', [5, 10], true, 178],
  ['cm', [5, 10], false, 177.8],
  ['cm', [0, 70], true, 178],
  ['kg', [11, 10], false, 74.4],
] as const)('%s: %j is sent, whole: %j, as %d', (unit, pair, isWhole, value) => {
  expect(fromKnown(unit, pair, isWhole)).toBe(value)
})

test('what can be typed in known units is shown so again', () => {
  for (const unit of ['cm', 'kg'])
    for (let larger = 3; larger <= 20; larger++)
      for (let smaller = 0; smaller < 12; smaller++)
        expect(inKnown(unit, fromKnown(unit, [larger, smaller], unit === 'cm'))).toEqual([larger, smaller])
})

test('an answer is read in both, and in its own alone where no other is known', () => {
  expect(measured(178, 'cm')).toBe('178 cm (5 ft 10 in)')
  expect(measured(1_234.5, 'units')).toBe('1,234.5 units')
})

test('the units are those of all stages', () => {
  const stage = { key: 'a', stage_type: 'questions', title: 'A', cta_label: null, config: {} }

  expect(unitsOf([stage, { ...stage, config: { units: { height_cm: 'cm' } } }])).toEqual({ height_cm: 'cm' })
})
