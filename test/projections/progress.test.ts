import { expect, test } from 'vitest'
import type { Position } from '#domain/event.ts'
import { makeProgress } from '#infra/consumers/progress.ts'

const at = (position: number) => String(position).padStart(20, '0') as Position
const forever = 2 ** 31 - 1

test('a wait ends when all consumers of the category have passed the position', async () => {
  const progress = makeProgress()
  progress.passed('one', ['application'], at(1))
  progress.passed('other', ['application', 'quote'], undefined)
  const waiting = progress.wait('application', at(2), forever)

  progress.passed('one', ['application'], at(2))
  progress.passed('other', ['application', 'quote'], at(3))

  expect(await waiting).toBe(true)
  expect(await progress.wait('policy', at(9), forever)).toBe(true)
})

test('a consumer that no longer exists is not waited for', async () => {
  const progress = makeProgress()
  progress.passed('gone', ['application'], undefined)
  const waiting = progress.wait('application', at(1), forever)

  progress.forget('gone')

  expect(await waiting).toBe(true)
})

test('when the process stops, nobody waits any more for projections that stop with it', async () => {
  const stopping = new AbortController()
  const progress = makeProgress(stopping.signal)
  progress.passed('one', ['application'], at(1))
  const waiting = progress.wait('application', at(2), forever)

  stopping.abort()

  expect(await waiting).toBe(false)
  expect(await progress.wait('application', at(2), forever)).toBe(false)
  expect(await progress.wait('application', at(1), forever)).toBe(true)
})
