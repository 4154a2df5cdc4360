import { expect, test } from 'vitest'
import { retry } from '#infra/retry.ts'

const failing = (times: number, error: Error) => {
  let attempts = 0
  return {
    attempts: () => attempts,
    work: async () => {
      if (attempts++ < times) throw error
      return 'done'
    },
  }
}

const away = new Error('away')
const options = { isTransient: (error: unknown) => error === away, delayMaximumMs: 1 }

test('work is done again after each transient error', async () => {
  const { work, attempts } = failing(5, away)

  await expect(retry(work, options)).resolves.toBe('done')
  expect(attempts()).toBe(6)
})

test('any other error ends it', async () => {
  const { work, attempts } = failing(1, new Error('wrong'))

  await expect(retry(work, options)).rejects.toThrow('wrong')
  expect(attempts()).toBe(1)
})

test('the last error is thrown when time is up', async () => {
  const { work, attempts } = failing(Infinity, away)

  await expect(retry(work, { ...options, withinMs: 0 })).rejects.toBe(away)
  expect(attempts()).toBe(1)
})

test('the last error is thrown, without waiting any longer, when the signal is aborted', async () => {
  const stopping = new AbortController()
  const { work, attempts } = failing(Infinity, away)

  const tried = retry(work, { ...options, delayMaximumMs: 60_000_000, signal: stopping.signal })
  stopping.abort()

  await expect(tried).rejects.toBe(away)
  expect(attempts()).toBe(1)
})
