import { expect, test, vi } from 'vitest'
import { testDatabase } from '../database.ts'
import { startRole, waitingIn } from './role-process.ts'

const soon = { timeout: 60_000, interval: 50 }

test.each(['projections', 'delivery-worker'])(
  'of two %s, one has taken over all work of the other within 5 seconds of its death, and the next stands by again',
  { timeout: 180_000 },
  async (role) => {
    await using database = await testDatabase()
    const start = async (program = role) => {
      const started = await startRole({ DATABASE_URL: database.url }, `${program}/main.ts`)
      await started.ready
      return started
    }
    await using _readModels = role === 'projections' ? undefined : await start('projections')
    await using first = await start()
    await vi.waitFor(async () => expect(await waitingIn(first)).toEqual([]), soon)
    await using second = await start()
    await vi.waitFor(async () => expect(await waitingIn(second)).toContain('standing by'), soon)

    await first.kill('process')
    await vi.waitFor(async () => expect(await waitingIn(second)).toEqual([]), { timeout: 5_000, interval: 50 })

    await using third = await start()
    await vi.waitFor(async () => expect(await waitingIn(third)).toContain('standing by'), soon)
  },
)
