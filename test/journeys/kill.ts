import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { storedEvents } from '#domain/stored-events.ts'
import { readOptions } from '#infra/command-line.ts'
import { makeDataKeys } from '#infra/crypto/data-keys.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { sealedLog } from '#infra/crypto/sealed-log.ts'
import { makeLeases } from '#infra/consumers/lease.ts'
import { createPool } from '#infra/postgres/postgres.ts'
import { demoApplication, demoReceiver } from '../../demo/demo.ts'
import { startReceiver, type Receiver } from '../../demo/receiver.ts'
import { oneProcess, twoOfEveryRole, type Installation } from './installations.ts'
import { directWebhooksTo } from './kill-setup.ts'
import { makeCaller, startLoad, type Caller } from './load.ts'
import {
  expectedWebhooks,
  faultsOfCustomers,
  faultsOfJourneys,
  faultsOfLog,
  faultsOfProjections,
  faultsOfReading,
  faultsOfWebhooks,
  readWholeLog,
  type Asked,
} from './outcome-checks.ts'
import { randomFrom } from './random.ts'

/**
 * Kills the service again and again while clients write to it, and looks for what was lost or doubled.
 * EventStoreDB is the in-process protocol server of the tests.
 */

export type KillOptions = {
  readonly kills: number
  readonly clients: number
  /** Decides what happens when. */
  readonly seed: number
  readonly topology?: 'one' | 'pairs'
  readonly eventLog?: 'postgres' | 'eventstoredb'
  readonly say?: (line: string) => void
  /** Ends the service and leaves. */
  readonly signal?: AbortSignal
}

export type KillReport = {
  readonly applications: number
  /** Writes that were answered, and requests that were not and were sent again. */
  readonly answered: number
  readonly unanswered: number
  readonly events: number
  readonly webhooks: number
  readonly repeatedWebhooks: number
  readonly faults: readonly string[]
}

/** Longer than the lease of a delivery whose sender was killed. */
const webhooksMs = 120_000

export const killAgainAndAgain = async ({
  kills,
  clients,
  seed,
  topology = 'one',
  eventLog = 'postgres',
  say = () => undefined,
  signal,
}: KillOptions): Promise<KillReport> => {
  const random = randomFrom(seed)
  const [secret, client] = [(await demoReceiver()).signing_secret, await demoApplication()]
  await using leftovers = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'coverstream-kill-'))
  leftovers.defer(() => rm(directory, { recursive: true, force: true }))
  // PostgreSQL may run as another user than we do.
  await chmod(directory, 0o755)
  const receiver = await startReceiver({ secret })
  leftovers.defer(() => receiver.close())
  const service = leftovers.use(
    topology === 'one' ? await oneProcess(directory) : await twoOfEveryRole(directory, eventLog),
  )

  const asked = await directWebhooksTo(receiver.url, service)
  const caller = makeCaller(service.origin, client)
  const load = startLoad(caller, clients, `kill-${seed}`)
  for (let kill = 1; kill <= kills; kill++) {
    signal?.throwIfAborted()
    const done = await service.disturb(random)
    say(`${kill} of ${kills}: ${done}; ${load.journeys.length} applications so far`)
  }
  await service.ready()
  await pause(1_000)
  await load.stop()
  say('the load has ended; looking for what was lost')

  const report = await judge({ caller, receiver, asked, service, journeys: load.journeys, say })
  const faults = [...load.faults, ...report.faults, ...(await service.end())]
  return { ...report, faults }
}

type Scene = {
  readonly caller: Caller
  readonly receiver: Receiver
  readonly asked: Asked
  readonly service: Pick<Installation, 'databaseUrl' | 'masterKey' | 'openLog'>
  readonly journeys: ReturnType<typeof startLoad>['journeys']
  readonly say: (line: string) => void
}

/** Waits for the webhooks, and looks for what was lost or doubled. */
export const judge = async ({ caller, receiver, asked, service, journeys, say }: Scene): Promise<KillReport> => {
  const pool = createPool(await service.databaseUrl())
  const dataKeys = makeDataKeys({ pool, keys: deriveKeys(service.masterKey) })
  const eventLog = sealedLog(await service.openLog(), dataKeys, storedEvents)
  try {
    const unread = await faultsOfReading(caller, journeys)
    const expected = expectedWebhooks(await readWholeLog(eventLog), asked)
    say(`waiting for ${expected} webhooks, of which ${receiver.received.length} have come`)
    await receiver.untilReceived(expected, webhooksMs).catch(() => undefined)

    const events = await readWholeLog(eventLog)
    const faults = [
      ...unread,
      ...faultsOfLog(events),
      ...faultsOfJourneys(journeys, events),
      ...faultsOfWebhooks(receiver, events, asked),
      ...(await faultsOfProjections({ pool, eventLog, leases: makeLeases(pool) })),
      ...(await faultsOfCustomers(pool, events)),
    ]
    return {
      applications: journeys.length,
      answered: journeys.reduce((sum, { answered }) => sum + answered, 0),
      unanswered: caller.unanswered(),
      events: events.length,
      webhooks: receiver.received.length,
      repeatedWebhooks: receiver.requests.filter(({ repeated }) => repeated).length,
      faults,
    }
  } finally {
    await eventLog.close()
    await pool.end()
  }
}

const shownFaults = 20

const usage = `Usage: npm run kill -- [--kills 20] [--clients 8] [--seed N] [--topology one|pairs] [--log postgres|eventstoredb]

Kills the service again and again while clients write to it, and looks for what was lost or doubled.

  --topology one    all roles in one process
  --topology pairs  two processes of every role, of which some are suspended; their PostgreSQL is restarted as well
`

const main = async (): Promise<number> => {
  const { values } = readOptions(usage, {
    options: {
      kills: { type: 'string' },
      clients: { type: 'string' },
      seed: { type: 'string' },
      topology: { type: 'string' },
      log: { type: 'string' },
    },
  })
  const seed = Number(values.seed ?? Date.now() % 1_000_000)
  const kills = Number(values.kills ?? 20)
  const clients = Number(values.clients ?? 8)
  const topology = z.enum(['one', 'pairs']).default('one').parse(values.topology)
  const eventLog = z.enum(['postgres', 'eventstoredb']).default('postgres').parse(values.log)
  const say = (line: string) => {
    process.stdout.write(`${line}\n`)
  }
  say(`seed ${seed}`)
  const { faults, ...counts } = await killAgainAndAgain({ kills, clients, seed, topology, eventLog, say })
  for (const [name, count] of Object.entries(counts)) say(`${name}: ${count}`)
  for (const fault of faults.slice(0, shownFaults)) say(`✘ ${fault}`)
  say(faults.length === 0 ? `\n${kills} kills, and nothing was lost or doubled.` : `\n${faults.length} faults.`)
  return faults.length === 0 ? 0 : 1
}

if (import.meta.main) process.exit(await main())
