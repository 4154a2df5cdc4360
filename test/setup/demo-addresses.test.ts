import { expect, test } from 'vitest'
import { readdressed } from '../../demo/demo.ts'

test('the demo finds its stand-ins on whatever ports were free', () => {
  const file = '{ a: http://127.0.0.1:4021, b: "http://127.0.0.1:4022/path", c: http://127.0.0.1:40215 }'
  const addresses = {
    'http://127.0.0.1:4021': 'http://127.0.0.1:40226',
    'http://127.0.0.1:4022': 'http://127.0.0.1:39999',
  }

  expect(readdressed(file, addresses)).toBe(
    '{ a: http://127.0.0.1:40226, b: "http://127.0.0.1:39999/path", c: http://127.0.0.1:40215 }',
  )
  expect(readdressed(file, {})).toBe(file)
})
