import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { setUpDemo } from '../../demo/demo.ts'
import { startStandIns } from '../../stand-ins/demo.ts'
import { startStripe } from '../../stand-ins/stripe/stripe.ts'
import { testDatabase } from '../database.ts'
import { withOwnReceiver } from './own-receiver.ts'
import { startPairs } from './pairs.ts'
import { playJourney } from './play-journey.ts'

const northlight = 'd3e00000-0000-4000-8000-000000000000'
const working = ['projections', 'command-api', 'delivery-worker'] as const
const soon = { timeout: 90_000, interval: 200 }

const Health = z.object({ checks: z.array(z.object({ name: z.string(), detail: z.string().optional() })) })

test(
  'processes that are stopped in the middle of their work are taken over within half a minute, and nothing is collected twice once they go on',
  { timeout: 600_000 },
  async () => {
    await using database = await testDatabase()
    await using pairs = await startPairs({ DATABASE_URL: database.url, ENVIRONMENT: 'test', RATE_LIMIT_REQUESTS: '0' })
    const directory = await mkdtemp(join(tmpdir(), 'coverstream-stopped-'))
    await withOwnReceiver(directory)
    const standIns = await startStandIns(pairs.origin, directory)
    const news = `${pairs.origin}/api/v1/webhooks/stripe/${northlight}`
    const stripe = await startStripe(0, {
      endpoints: [{ url: news, secret: 'whsec_demo_of_northlight' }],
      banks: { afterMs: 500 },
    })
    // The journey pays there, too.
    const ports = join(directory, 'stand-ins.json')
    const known = z.record(z.string(), z.int()).parse(JSON.parse(await readFile(ports, 'utf8')))
    await writeFile(ports, JSON.stringify({ ...known, stripe: Number(new URL(stripe.url).port) }))
    await setUpDemo(pairs.origin, pairs.operatorKey, { ...standIns.addresses, 'http://127.0.0.1:4024': stripe.url })
    await playJourney(pairs.origin, directory, pairs.operatorKey)

    const signal = (which: 0 | 1, name: NodeJS.Signals) => {
      for (const role of working) process.kill(pairs.processOn(pairs.ports[role][which])?.pid ?? 0, name)
    }
    const waitingBehind = async (port: number): Promise<readonly string[]> => {
      const health = await fetch(`http://127.0.0.1:${pairs.healthPort(port)}/health/ready`)
      const { checks } = Health.parse(await health.json())
      return checks.filter(({ detail }) => detail?.startsWith('standing by')).map(({ name }) => name)
    }
    const collections = () => stripe.objects().filter(({ object, mandate }) => object === 'payment_intent' && mandate)
    const collected = () => collections().map(({ metadata }) => JSON.stringify(metadata))
    const aMonthLater = async (which: 0 | 1) => {
      // Past all days in a row on which no bank works.
      const body = JSON.stringify({ forward_seconds: 40 * 86_400 })
      const headers = { authorization: `Bearer ${pairs.operatorKey}`, 'content-type': 'application/json' }
      const address = `http://127.0.0.1:${pairs.ports['command-api'][which]}/admin/v1/clock`
      expect((await fetch(address, { method: 'POST', headers, body })).status).toBe(200)
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
      await aMonthLater(other)
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
    await Promise.all([standIns.close(), stripe.close()])
    await rm(directory, { recursive: true })
  },
)
