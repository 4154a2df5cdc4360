import { afterEach, expect, test, vi } from 'vitest'
import { withSetupFile } from '../../command-api/setup-file/read-setup-file.ts'

afterEach(() => vi.restoreAllMocks())

// May hold an alias, for all that is known before it is read.
const text = 'organisations: [] # *'

const behindAnother = async (waitedMs: number) => {
  const using = Promise.withResolvers<undefined>()
  const first = withSetupFile(text, [], () => using.promise)
  const second = withSetupFile(text, [], async (file) => 'declared' in file && file.declared.count)
  const now = performance.now()
  vi.spyOn(performance, 'now').mockReturnValue(now + waitedMs)
  using.resolve(undefined)
  const [, read] = await Promise.all([first, second])
  return read
}

test('of two large set-up files the second is read after the first', async () => {
  expect(await behindAnother(29_000)).toBe(1)
})

test('503: one that has waited for others for more than half a minute is not read any more', async () => {
  await expect(behindAnother(31_000)).rejects.toMatchObject({ code: 'unavailable' })
})
