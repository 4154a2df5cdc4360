import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { testDatabase } from '../database.ts'
import { aMonthLater, startCollecting } from './collecting.ts'
import { startPairs } from './pairs.ts'
import { playJourney } from './play-journey.ts'

const working = ['projections', 'command-api', 'delivery-worker'] as const
const soon = { timeout: 90_000, interval: 200 }

const Health = z.object({ checks: z.array(z.object({ name: z.string(), detail: z.string().optional() })) })

test(
  'processes that are stopped in the middle of their work are taken over within half a minute, and nothing is collected twice once they go on',
  { timeout: 600_000 },
  async () => {
    await using database = await testDatabase()
    await using pairs = await startPairs({ DATABASE_URL: database.url, ENVIRONMENT: 'test', RATE_LIMIT_REQUESTS: '0' })
    await using collecting = await startCollecting(pairs.origin, pairs.operatorKey)
    const { collected } = collecting
    await playJourney(pairs.origin, collecting.directory, pairs.operatorKey)

    const signal = (which: 0 | 1, name: NodeJS.Signals) => {
      for (const role of working) process.kill(pairs.processOn(pairs.ports[role][which])?.pid ?? 0, name)
    }
    const waitingBehind = async (port: number): Promise<readonly string[]> => {
      const health = await fetch(`http://127.0.0.1:${pairs.healthPort(port)}/health/ready`)
      const { checks } = Health.parse(await health.json())
      return checks.filter(({ detail }) => detail?.startsWith('standing by')).map(({ name }) => name)
    }

    for (const [stopped, other] of [
      [0, 1],
      [1, 0],
    ] as const) {
      const before = collected().length
      signal(stopped, 'SIGSTOP')
      await vi.waitFor(
        async () => {
          for (const role of working) expect([role, await waitingBehind(pairs.ports[role][other])]).toEqual([role, []])
        },
        { timeout: 60_000, interval: 200 },
      )
      await aMonthLater(`http://127.0.0.1:${pairs.ports['command-api'][other]}`, pairs.operatorKey)
      await vi.waitFor(() => expect(collected().length).toBeGreaterThan(before), soon)
      signal(stopped, 'SIGCONT')
      await vi.waitFor(async () => {
        for (const role of working) {
          const health = await fetch(`http://127.0.0.1:${pairs.healthPort(pairs.ports[role][stopped])}/health/ready`)
          expect([role, health.status]).toEqual([role, 200])
          expect([role, await waitingBehind(pairs.ports[role][stopped])]).not.toEqual([role, []])
        }
      }, soon)
    }

    expect(collected()).toEqual([...new Set(collected())])
  },
)
