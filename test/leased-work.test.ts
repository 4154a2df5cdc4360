import { expect, test } from 'vitest'
import { workWhileLeased } from '#infra/consumers/leased-work.ts'
import type { Leases } from '#infra/consumers/lease.ts'
import { makeLog } from '#infra/log.ts'

const log = makeLog('silent', 'test')

/** Leases of one process that tell what happens to them. */
const toldLeases = (told: string[]): Leases => ({
  take: async (name) => {
    told.push(`take ${name}`)
    return {
      signal: new AbortController().signal,
      isHeld: () => true,
      release: async () => {
        told.push(`release ${name}`)
      },
    }
  },
})

test('work that fails gives its lease back, so that another process may go on, and takes it again', async () => {
  const told: string[] = []
  const stopping = new AbortController()
  const outages: (string | undefined)[] = []
  const running = workWhileLeased({
    name: 'sweep',
    leases: toldLeases(told),
    log,
    signal: stopping.signal,
    work: async (_signal, wentWell) => {
      told.push('work')
      outages.push(running.outage())
      if (told.filter((each) => each === 'work').length === 1) throw new Error('The log is away.')
      wentWell()
      stopping.abort()
    },
  })
  await running.finished

  expect(told).toEqual(['take sweep', 'work', 'release sweep', 'take sweep', 'work', 'release sweep'])
  expect(outages).toEqual([undefined, expect.stringMatching(/^Error at leased-work.test.ts/)])
  expect(running.outage()).toBeUndefined()
})

test('work ends when its lease does, and waits for the next one', async () => {
  const stopping = new AbortController()
  const lost = new AbortController()
  let taken = 0
  const leases: Leases = {
    take: async () => {
      taken++
      if (taken === 1) return { signal: lost.signal, isHeld: () => true, release: async () => undefined }
      stopping.abort()
      return undefined
    },
  }
  const { finished, outage } = workWhileLeased({
    name: 'sweep',
    leases,
    log,
    signal: stopping.signal,
    work: (signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve())
        lost.abort()
      }),
  })
  await finished

  expect([taken, outage()]).toEqual([2, undefined])
})

test('what went wrong here does not matter while another process does the work', async () => {
  const stopping = new AbortController()
  const outages: (string | undefined)[] = []
  const leases: Leases = {
    take: async (_name, _signal, held) => {
      if (outages.length === 0) return { signal: stopping.signal, isHeld: () => true, release: async () => undefined }
      outages.push(running.outage())
      held?.()
      outages.push(running.outage())
      stopping.abort()
      return undefined
    },
  }
  const running = workWhileLeased({
    name: 'sweep',
    leases,
    log,
    signal: stopping.signal,
    work: async () => {
      outages.push(running.outage())
      throw new Error('The log is away.')
    },
  })
  await running.finished

  expect(outages).toEqual([undefined, expect.any(String), undefined])
})
