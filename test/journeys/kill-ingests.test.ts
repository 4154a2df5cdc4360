import { expect, test } from 'vitest'
import { killDuringIngests } from './kill-ingests.ts'

// Each start takes seconds.
const patienceMs = 240_000

test(
  'whenever the service is killed while leads are sent, none is lost and none is doubled',
  { timeout: patienceMs },
  async () => {
    expect(await killDuringIngests({ leads: 200, kills: 2, clients: 4 })).toEqual([])
  },
)
