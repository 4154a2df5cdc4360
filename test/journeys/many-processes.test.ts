import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { demoApplication, setUpDemo } from '../../demo/demo.ts'
import { startStandIns } from '../../stand-ins/demo.ts'
import { testDatabase } from '../database.ts'
import { eventStoreDbTarget } from '../eventstoredb/target.ts'
import { withOwnReceiver } from './own-receiver.ts'
import { roles, startPairs } from './pairs.ts'
import { playJourney } from './play-journey.ts'

/** How many commands were answered before the read models had caught up with them. */
const unseenWrites = async (port: number): Promise<string | undefined> => {
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  return /^coverstream_unseen_writes_total (\d+)$/m.exec(metrics)?.[1]
}

/** Sends the same lead under one key, ten times at once: to both processes, in turn. */
const sendAtOnce = async (origin: string) => {
  const { client_id, client_secret } = await demoApplication()
  const resource = `${origin}/api/v1`
  const form = { grant_type: 'client_credentials', client_id, client_secret, scope: 'write crm', resource }
  const token = await fetch(`${origin}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) })
  const { access_token } = z.object({ access_token: z.string() }).parse(await token.json())
  const send = async () => {
    const answer = await fetch(`${resource}/crm/ingests`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${access_token}`,
        'content-type': 'application/json',
        'idempotency-key': 'sent to both',
      },
      body: JSON.stringify({ source: 'website', identity: { email: 'both@example.com' } }),
    })
    return Sent.parse(await answer.json()).data
  }
  return Promise.all(Array.from({ length: 10 }, send))
}
const Sent = z.object({ data: z.object({ id: z.uuid(), duplicate: z.boolean() }) })

test(
  'two processes of every role take a lead in once and play the whole journey, also after all were killed and started again',
  { timeout: 300_000 },
  async () => {
    await using database = await testDatabase()
    await using eventStoreDb = await eventStoreDbTarget()
    await using pairs = await startPairs({
      DATABASE_URL: database.url,
      EVENT_LOG: 'eventstoredb',
      EVENTSTOREDB_URL: eventStoreDb.url,
      // A command that waits for a reader that never moves would wait so long, and the journey would not end in time.
      READ_YOUR_WRITES_MS: '60000',
    })
    const { ports, healthPort } = pairs
    const directory = await mkdtemp(join(tmpdir(), 'coverstream-pairs-'))
    await withOwnReceiver(directory)
    const standIns = await startStandIns(pairs.origin, directory)
    await setUpDemo(pairs.origin, pairs.operatorKey, standIns.addresses)

    const sent = await sendAtOnce(pairs.origin)
    expect([new Set(sent.map(({ id }) => id)).size, sent.filter(({ duplicate }) => !duplicate).length]).toEqual([1, 1])

    await playJourney(pairs.origin, directory, pairs.operatorKey)
    const all = roles.flatMap((role) => ports[role].map((own) => ({ role, own })))
    const restarted = await Promise.all(all.map(async ({ role, own }) => pairs.restart(role, own)))
    await Promise.all(restarted.map(async ({ ready }) => ready))
    await playJourney(pairs.origin, directory, pairs.operatorKey)

    for (const own of ports['command-api']) expect(await unseenWrites(healthPort(own))).toBe('0')
    for (const role of roles)
      for (const own of ports[role]) {
        const health = await fetch(`http://127.0.0.1:${healthPort(own)}/health/ready`)
        expect([role, health.status]).toEqual([role, 200])
        expect([role, await pairs.stop(own)]).toEqual([role, 0])
      }
    await standIns.close()
    await rm(directory, { recursive: true })
  },
)
