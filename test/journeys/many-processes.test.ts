import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { setUpDemo } from '../../demo/demo.ts'
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

test(
  'two processes of every role play the whole journey, also after all of each were killed and started again',
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
