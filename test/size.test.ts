import { expect, test } from 'vitest'
import { approximateBytes, grown, sizeOf } from '#infra/size.ts'

test('what grows at each change is measured as a whole only when what came since may be as much', () => {
  const document: string[] = []
  let size = sizeOf(document, undefined)
  let measurements = 0
  for (let count = 0; count < 1_000; count++) {
    const part = 'x'.repeat(100)
    document.push(part)
    const estimated = grown(size, [part])
    size = sizeOf(document, estimated)
    if (size !== estimated) measurements++
    expect(size.measured + size.added).toBeGreaterThanOrEqual(approximateBytes(document))
  }
  expect(size.measured + size.added).toBeLessThan(2 * approximateBytes(document))
  expect(measurements).toBeLessThan(15)
})

test('what is replaced at each change is not taken for more and more', () => {
  let size = sizeOf(['x'.repeat(100)], undefined)
  for (let count = 0; count < 1_000; count++) {
    const document = ['y'.repeat(100)]
    size = sizeOf(document, grown(size, document))
    expect(size.measured + size.added).toBeLessThanOrEqual(2 * approximateBytes(document))
  }
})

test('what was not measured is measured, whatever was added', () => {
  expect(grown(undefined, ['x'])).toBeUndefined()
  expect(sizeOf('x', undefined)).toEqual({ measured: approximateBytes('x'), added: 0 })
})
