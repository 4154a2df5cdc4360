import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { stringify } from 'yaml'
import { readOptions } from '#infra/command-line.ts'
import { postgresLog } from '#infra/event-log/postgres/postgres-log.ts'
import { startEmbeddedPostgres } from '#infra/postgres/embedded/embedded-postgres.ts'
import { demoApplication, demoReceiver, setUpDemo } from '../../demo/demo.ts'
import { startReceiver } from '../../demo/receiver.ts'
import { judge } from '../journeys/kill.ts'
import { directWebhooksTo } from '../journeys/kill-setup.ts'
import { makeCaller, startLoad } from '../journeys/load.ts'
import { carefulCaller } from './caller.ts'
import { follow, followed, sendLeads } from './load.ts'
import { startPairsOf } from './pairs.ts'
import { commitBefore, installVersionBefore, NoVersionBefore } from './version-before.ts'

/** Replaces the processes of the version before, one by one, while clients write and read, and looks for what went wrong. */

type Options = {
  readonly clients: number
  /** How long the load lasts between two replacements. */
  readonly pauseMs: number
  /** Where the version before is installed, or is to be. */
  readonly folder: string
  readonly say: (line: string) => void
}

/** `projections` first, so that the read models of this version are there, and last, so that those of the other are kept up to date. */
const order = [
  'projections',
  'command-api',
  'command-api',
  'query-api',
  'query-api',
  'delivery-worker',
  'delivery-worker',
  'projections',
] as const

const besideMs = 180_000

/** A firm of its own, whose leads nobody is asked about. */
const setUpFirm = async (origin: string, operatorKey: string) => {
  const server = { client_id: crypto.randomUUID(), client_secret: crypto.randomUUID() }
  const firm = {
    slug: 'sends-leads',
    name: 'A firm that sends leads',
    api_applications: [{ name: 'Server', ...server, scopes: ['read', 'write', 'crm'] }],
    outcome_types: [{ key: 'called', label: 'Called' }],
  }
  const response = await fetch(`${origin}/admin/v1/setup?apply=true`, {
    method: 'POST',
    headers: { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/yaml' },
    body: stringify({ organisations: [firm] }),
  })
  if (!response.ok) throw new Error(`The firm could not be set up: ${await response.text()}`)
  return server
}

export const upgradeUnderLoad = async ({ clients, pauseMs, folder, say }: Options) => {
  await using leftovers = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'coverstream-upgrade-'))
  leftovers.defer(() => rm(directory, { recursive: true, force: true }))
  // PostgreSQL may run as another user than we do.
  await chmod(directory, 0o755)
  const postgres = await startEmbeddedPostgres({ dataDir: join(directory, 'postgres') })
  leftovers.defer(() => postgres.stop())
  const receiver = await startReceiver({ secret: (await demoReceiver()).signing_secret })
  leftovers.defer(() => receiver.close())
  const [masterKey, operatorKey] = [randomBytes(32).toString('base64'), randomBytes(24).toString('hex')]
  const { url } = postgres
  const service = leftovers.use(
    await startPairsOf(folder, directory, {
      DATABASE_URL: url,
      MASTER_KEY: masterKey,
      OPERATOR_KEY: operatorKey,
      RATE_LIMIT_REQUESTS: '0',
    }),
  )
  const { origin } = service
  await setUpDemo(origin, operatorKey)
  const asked = await directWebhooksTo(receiver.url, { origin, operatorKey })
  const faults: string[] = []
  const firm = carefulCaller(origin, await setUpFirm(origin, operatorKey), faults)
  const seller = makeCaller(origin, await demoApplication())
  const demo = carefulCaller(origin, await demoApplication(), faults)

  const ending = new AbortController()
  const load = { caller: firm, faults, isBefore: service.isBefore, signal: ending.signal }
  const selling = startLoad(seller, clients, 'upgrade')
  const sending = sendLeads(load, clients)
  const following = Object.keys(followed).map((list) =>
    follow({ ...load, caller: list === '/lifecycle_events' ? demo : firm }, list),
  )
  await pause(pauseMs)
  for (const [index, role] of order.entries()) {
    const fault = await service.replace(role)
    if (fault !== undefined) faults.push(fault)
    say(
      `${index + 1} of ${order.length}: replaced one ${role}; ${selling.journeys.length} applications so far, ${faults.length} faults`,
    )
    for (const line of new Set(await service.beside())) say(`   ${line}`)
    await pause(pauseMs)
  }
  const deadline = Date.now() + besideMs
  while ((await service.beside()).length > 0 && Date.now() < deadline) await pause(200)
  for (const line of await service.beside()) faults.push(`all are of this version, but ${line}`)
  await pause(pauseMs)
  ending.abort()
  await selling.stop()
  const counts = await sending
  for (const [told, times] of [...firm.putOff, ...demo.putOff]) say(`   put off ${times} times: ${told}`)
  say('the load has ended; looking for what was lost or shown again')

  const followers = await Promise.all(following)
  const shown: Record<string, number> = {}
  for (const { list, conclude } of followers) shown[list] = await conclude()
  const stores = { masterKey, databaseUrl: async () => url, openLog: async () => postgresLog({ url }) }
  const judged = await judge({ caller: seller, receiver, asked, service: stores, journeys: selling.journeys, say })
  const all = [
    ...faults,
    ...selling.faults,
    ...judged.faults,
    ...service.broken.map((each) => `a request was not answered: ${each}`),
    ...service.errors(),
    ...(await service.end()),
  ]
  const { applications, answered, unanswered, events, webhooks, repeatedWebhooks } = judged
  const figures = { applications, answered, unanswered, events, webhooks, repeatedWebhooks, ...counts }
  const putOff = [...firm.putOff.values(), ...demo.putOff.values()].reduce((sum, times) => sum + times, 0)
  return { figures: { ...figures, putOff, ...shown }, faults: all }
}

const usage = `Usage: npm run upgrade -- [--clients 3] [--pause 5] [--folder DIR]

Installs the version before, the commit that test/upgrade/from names, starts two processes of every role of it on a database of
their own, replaces them one by one by those of this version while clients write, read and follow, and looks for what was
refused, lost, doubled or shown again. Without git history or registry it says so, and ends with 3.

  --clients N   so many sell and as many send leads (3)
  --pause S     seconds between two replacements (5)
  --folder DIR  where the version before is installed, for the next time too; by default in a temporary folder
`

const shownFaults = 20

const main = async (): Promise<number> => {
  const { values } = readOptions(usage, {
    options: { clients: { type: 'string' }, pause: { type: 'string' }, folder: { type: 'string' } },
  })
  const say = (line: string) => {
    process.stdout.write(`${line}\n`)
  }
  const commit = await commitBefore()
  const temporary = values.folder === undefined ? await mkdtemp(join(tmpdir(), 'coverstream-before-')) : undefined
  const folder = resolve(values.folder ?? join(temporary ?? '', 'coverstream'))
  try {
    if (!existsSync(folder)) {
      say(`installing the version before, ${commit}`)
      await installVersionBefore(folder, commit)
    }
    const clients = Number(values.clients ?? 3)
    const pauseMs = Number(values.pause ?? 5) * 1_000
    const { figures, faults } = await upgradeUnderLoad({ clients, pauseMs, folder, say })
    for (const [name, count] of Object.entries(figures)) say(`${name}: ${count}`)
    for (const fault of faults.slice(0, shownFaults)) say(`✘ ${fault}`)
    say(
      faults.length === 0
        ? '\nUpgraded, and nothing was refused, lost, doubled or shown again.'
        : `\n${faults.length} faults.`,
    )
    return faults.length === 0 ? 0 : 1
  } catch (error) {
    if (!(error instanceof NoVersionBefore)) throw error
    process.stderr.write(`The version before cannot be tried: ${error.message}\n`)
    return 3
  } finally {
    if (temporary !== undefined) await rm(temporary, { recursive: true, force: true })
  }
}

if (import.meta.main) process.exit(await main())
