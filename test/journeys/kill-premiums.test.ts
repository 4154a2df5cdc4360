import { expect, test } from 'vitest'
import { killDuringCollections } from './kill-premiums.ts'

// Whatever is waited for has a deadline of its own, all of them together less than this: then the fault is named.
const patienceMs = 720_000

test(
  'whenever the service is killed while premiums are collected and given back, the provider’s books and the ledger are equal',
  { timeout: patienceMs },
  async () => {
    const options = { kills: 2, policies: 6, clients: 3, topology: 'one', seed: Date.now() % 1_000_000 } as const
    const { faults, collected, reconciled } = await killDuringCollections(options)

    expect({ faults, seed: options.seed }).toEqual({ faults: [], seed: options.seed })
    expect(collected).toBeGreaterThan(0)
    expect(reconciled.at(-1)).toBe('No differences')
  },
)
