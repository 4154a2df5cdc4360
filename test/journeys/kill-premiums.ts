import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Pool } from 'pg'
import { z } from 'zod'
import { storedEvents } from '#domain/stored-events.ts'
import { readOptions } from '#infra/command-line.ts'
import { makeLeases } from '#infra/consumers/lease.ts'
import { makeDataKeys } from '#infra/crypto/data-keys.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { sealedLog } from '#infra/crypto/sealed-log.ts'
import { createPool } from '#infra/postgres/postgres.ts'
import { startReceiver, type Receiver } from '../../demo/receiver.ts'
import { reconcile } from '../../cli/reconciliation/reconcile.ts'
import { startStripe } from '../../stand-ins/stripe/stripe.ts'
import { oneProcess, twoOfEveryRole, type Installation } from './installations.ts'
import { makeCaller, makePatient } from './load.ts'
import {
  byPremium,
  endedPolicies,
  faultsOfPremium,
  faultsOfRefunds,
  faultsOfSales,
  paymentsIn,
  type Premiums,
} from './money-checks.ts'
import {
  asked,
  firmFile,
  makeTeam,
  organisation_id,
  providerKey,
  providerSecret,
  receiverSecret,
  server,
  type Outside,
} from './money-firm.ts'
import { forward, giveBackUnsold, premiumsOf, startMoneyLoad, type MoneyLoad, type MoneyWorld } from './money-load.ts'
import { expectedWebhooks, faultsOfLog, faultsOfProjections, faultsOfWebhooks, readWholeLog } from './outcome-checks.ts'
import { randomFrom } from './random.ts'

/**
 * Kills the service again and again while premiums are collected, given back and disputed, and looks for what was collected or
 * given back twice, or for nothing. The payment provider is an outside party: it goes on, and its books are what is compared.
 */

export type KillOptions = {
  readonly kills: number
  readonly policies: number
  readonly clients: number
  /** Decides what happens when. */
  readonly seed: number
  readonly topology?: 'one' | 'pairs'
  readonly eventLog?: 'postgres' | 'eventstoredb'
  readonly say?: (line: string) => void
}

export type KillReport = {
  readonly policies: number
  readonly premiums: number
  readonly collected: number
  readonly payments: number
  readonly refunds: number
  readonly disputes: number
  readonly unanswered: number
  readonly events: number
  readonly webhooks: number
  /** What the comparison with the provider's export has said. */
  readonly reconciled: readonly string[]
  readonly faults: readonly string[]
}

const day = 86_400
const restMs = 120_000
const webhooksMs = 120_000

export const killDuringCollections = async (options: KillOptions): Promise<KillReport> => {
  const { kills, policies, clients, seed, topology = 'pairs', eventLog = 'postgres', say = () => undefined } = options
  const random = randomFrom(seed)
  await using leftovers = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'coverstream-kill-premiums-'))
  leftovers.defer(() => rm(directory, { recursive: true, force: true }))
  // PostgreSQL may run as another user than we do.
  await chmod(directory, 0o755)
  const receiver = await startReceiver({ secret: receiverSecret })
  leftovers.defer(() => receiver.close())
  const stripe = await startStripe(0, { banks: { afterMs: 100 } })
  leftovers.defer(() => stripe.close())
  const service = leftovers.use(
    topology === 'one' ? await oneProcess(directory) : await twoOfEveryRole(directory, eventLog),
  )
  const { origin, operatorKey } = service
  stripe.announceTo([{ url: `${origin}/api/v1/webhooks/stripe/${organisation_id}`, secret: providerSecret }])
  await setUpFirm(service, { provider: stripe.url, receiver: receiver.url }, random() < 0.5 ? 'automatic' : 'manual')

  const patient = makePatient(origin)
  const caller = makeCaller(origin, server, 'read write', patient)
  const world = { caller, stripe, random, team: makeTeam(patient, operatorKey) }
  const load = startMoneyLoad(world, clients)
  load.sellUpTo(Math.ceil(policies / 2))
  await load.sold()
  for (let kill = 1; kill <= kills; kill++) {
    load.sellUpTo(Math.ceil((policies * (1 + kill / kills)) / 2))
    await load.collecting()
    const done = await service.disturb(random)
    say(`${kill} of ${kills}: ${done}; ${load.sales.length} sales so far`)
  }
  await service.ready()
  await load.sold()
  await load.stop()
  say('nobody asks for anything more; waiting until nothing is under way')

  const report = await judge({ ...world, service, receiver, load, file: join(directory, 'balance.csv') })
  return { ...report, faults: [...load.faults, ...report.faults, ...(await service.end())] }
}

const setUpFirm = async ({ origin, operatorKey }: Installation, outside: Outside, capture: 'automatic' | 'manual') => {
  const response = await fetch(`${origin}/admin/v1/setup?apply=true`, {
    method: 'POST',
    headers: { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/yaml' },
    body: firmFile(outside, capture),
  })
  if (!response.ok) throw new Error(`The firm could not be set up: ${await response.text()}`)
}

type Scene = MoneyWorld & {
  readonly service: Installation
  readonly receiver: Receiver
  readonly load: MoneyLoad
  /** Where the provider's export is written to. */
  readonly file: string
}

const judge = async (scene: Scene): Promise<KillReport> => {
  const { service, receiver, load, stripe, caller } = scene
  const pool = createPool(await service.databaseUrl())
  const dataKeys = makeDataKeys({ pool, keys: deriveKeys(service.masterKey) })
  const eventLog = sealedLog(await service.openLog(), dataKeys, storedEvents)
  try {
    // What was paid for by card, and not bought, is given back once its price has expired.
    for (let week = 0; week < 5; week++) await forward(scene, 7 * day)
    const { faults, premiums, reconciled } = await untilFaultless(scene, pool)
    const events = await untilAllReceived(receiver, () => readWholeLog(eventLog))
    const books = byPremium(paymentsIn(stripe.objects()), premiums, load.sales)
    const context = { asked: load.refunds, ended: endedPolicies(events) }
    const counted = (object: string) => stripe.objects().filter((each) => each.object === object).length
    return {
      policies: load.sales.filter(({ policy_id }) => policy_id !== undefined).length,
      premiums: premiums.length,
      collected: premiums.filter(({ status }) => status === 'collected').length,
      payments: counted('payment_intent'),
      refunds: counted('refund'),
      disputes: counted('dispute'),
      unanswered: caller.unanswered(),
      events: events.length,
      webhooks: receiver.received.length,
      reconciled,
      faults: [
        ...faults,
        ...faultsOfLog(events),
        ...faultsOfSales(load.sales, events, premiums),
        ...premiums.flatMap((each) =>
          faultsOfRefunds(each, books.get(each.premium_id) ?? [], stripe.objects(), context),
        ),
        ...faultsOfWebhooks(receiver, events, asked),
        ...(await faultsOfProjections({ pool, eventLog, leases: makeLeases(pool) })),
      ],
    }
  } finally {
    await eventLog.close()
    await pool.end()
  }
}

/** What the log holds once the webhooks of all of it came: more may be appended while they are waited for. */
const untilAllReceived = async (
  receiver: Receiver,
  read: () => ReturnType<typeof readWholeLog>,
): ReturnType<typeof readWholeLog> => {
  const deadline = Date.now() + webhooksMs
  for (let events = await read(); ; events = await read()) {
    const left = Math.max(1, deadline - Date.now())
    await receiver.untilReceived(expectedWebhooks(events, asked), left).catch(() => undefined)
    if (left === 1 || (await read()).length === events.length) return events
  }
}

type Looked = {
  readonly faults: readonly string[]
  readonly premiums: Premiums
  readonly reconciled: readonly string[]
}

/** Looks again until nothing is wrong, or for long enough. Meanwhile minutes and, at times, days pass. */
const untilFaultless = async (scene: Scene, pool: Pool): Promise<Looked> => {
  const deadline = Date.now() + restMs
  for (let looks = 1; ; looks++) {
    const looked = await look(scene, pool)
    if (looked.faults.length === 0 || Date.now() > deadline) return looked
    await pause(500)
    // What was not answered in time is asked again some minutes later; news that never came is missed after eight days.
    if (looks % 10 !== 0) continue
    await giveBackUnsold(scene, scene.load.sales)
    await forward(scene, looks % 60 === 0 ? 9 * day : 61)
  }
}

const look = async (scene: Scene, pool: Pool): Promise<Looked> => {
  const { team, stripe, load } = scene
  const premiums: Premiums[number][] = []
  for (const { policy_id } of load.sales)
    if (policy_id !== undefined) premiums.push(...(await premiumsOf(team, policy_id)))
  const payments = paymentsIn(stripe.objects())
  const books = byPremium(payments, premiums, load.sales)
  const faults = [
    ...payments.filter(({ isUnderWay }) => isUnderWay).map(({ id }) => `payment ${id} is still under way`),
    ...(books.get(undefined) ?? []).flatMap(({ id, held }) =>
      held === 0 ? [] : [`${held} pence of ${id} are kept for nothing`],
    ),
    ...premiums.flatMap((premium) => faultsOfPremium(premium, books.get(premium.premium_id) ?? [])),
  ]
  const ledger = await compareLedger(scene, pool)
  return { premiums, reconciled: ledger.reconciled, faults: [...faults, ...ledger.faults] }
}

const TrialBalances = z.array(z.object({ balanced: z.boolean() }))

const compareLedger = async ({ team, stripe, file }: Scene, pool: Pool) => {
  const headers = { authorization: `Basic ${Buffer.from(`${providerKey}:`).toString('base64')}` }
  const exported = await fetch(`${stripe.url}/stand-in/balance_change_from_activity.csv`, { headers })
  await writeFile(file, await exported.text())
  const reconciled: string[] = []
  const output = { write: (line: string) => reconciled.push(line.trim()) }
  await reconcile(pool, file, { organisation_id, test: true, until: undefined }, output)
  const balances = TrialBalances.parse(await team('GET', `organisations/${organisation_id}/ledger/trial_balance`))
  const faults = [
    ...(reconciled.at(-1) === 'No differences' ? [] : reconciled),
    ...(balances.length === 1 && balances[0]?.balanced === true ? [] : ['the trial balance is not zero']),
  ]
  return { faults, reconciled }
}

const shownFaults = 20

const usage = `Usage: npm run kill:premiums -- [--kills 20] [--policies 40] [--clients 4] [--seed N] [--topology pairs|one]
  [--log postgres|eventstoredb]

Kills the service again and again while premiums are collected, given back and disputed, and looks for what was collected or given
back twice, or for nothing, and for what the ledger has otherwise than the payment provider's export.

  --topology pairs  two processes of every role, of which some are suspended; their PostgreSQL is restarted as well
  --topology one    all roles in one process
`

const main = async (): Promise<number> => {
  const { values } = readOptions(usage, {
    options: {
      kills: { type: 'string' },
      policies: { type: 'string' },
      clients: { type: 'string' },
      seed: { type: 'string' },
      topology: { type: 'string' },
      log: { type: 'string' },
    },
  })
  const seed = Number(values.seed ?? Date.now() % 1_000_000)
  const kills = Number(values.kills ?? 20)
  const policies = Number(values.policies ?? 40)
  const clients = Number(values.clients ?? 4)
  const topology = z.enum(['pairs', 'one']).default('pairs').parse(values.topology)
  const eventLog = z.enum(['postgres', 'eventstoredb']).default('postgres').parse(values.log)
  const say = (line: string) => {
    process.stdout.write(`${line}\n`)
  }
  say(`seed ${seed}`)
  const report = await killDuringCollections({ kills, policies, clients, seed, topology, eventLog, say })
  const { faults, reconciled, ...counts } = report
  for (const [name, count] of Object.entries(counts)) say(`${name}: ${count}`)
  for (const line of reconciled) say(line)
  for (const fault of faults.slice(0, shownFaults)) say(`✘ ${fault}`)
  say(faults.length === 0 ? `\n${kills} kills, and the books are equal.` : `\n${faults.length} faults.`)
  return faults.length === 0 ? 0 : 1
}

if (import.meta.main) process.exit(await main())
