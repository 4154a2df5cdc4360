import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { toReader } from '#infra/shown-progress.ts'

test('a command ends without an error when whoever reads its output has gone', () => {
  let ended = 0
  const output = toReader(new PassThrough(), () => {
    ended++
  })

  output.emit('error', Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))
  expect(ended).toBe(1)

  const full = Object.assign(new Error('write ENOSPC'), { code: 'ENOSPC' })
  expect(() => output.emit('error', full)).toThrow(full)
  expect(ended).toBe(1)
})
