import { expect, test } from 'vitest'
import { killAgainAndAgain } from './kill.ts'

// Each start takes seconds, and what a killed sender was sending waits until its lease has ended.
const patienceMs = 240_000

test(
  'whatever is killed at whatever moment, nothing that was answered is lost and nothing is doubled',
  { timeout: patienceMs },
  async () => {
    const { faults, answered, webhooks } = await killAgainAndAgain({
      kills: 2,
      clients: 4,
      seed: Date.now() % 1_000_000,
    })

    expect(faults).toEqual([])
    expect(answered).toBeGreaterThan(0)
    expect(webhooks).toBeGreaterThan(0)
  },
)
