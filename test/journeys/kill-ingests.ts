import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { stringify } from 'yaml'
import { readOptions } from '#infra/command-line.ts'
import { readOwnSecrets } from '#infra/local-installation.ts'
import { postgresLog } from '#infra/event-log/postgres/postgres-log.ts'
import { makeCaller, type Caller } from './load.ts'
import { faultsOfLog, readWholeLog } from './outcome-checks.ts'
import { databaseOf, freePort, startServiceProcess } from './service-process.ts'

/** Kills the whole service again and again while leads are sent to it, and looks for what got lost or doubled. */

type Options = { readonly leads: number; readonly kills: number; readonly clients: number }

const patienceMs = 180_000

export const killDuringIngests = async ({ leads, kills, clients }: Options): Promise<readonly string[]> => {
  const directory = await mkdtemp(join(tmpdir(), 'coverstream-kill-ingests-'))
  // PostgreSQL may run as another user than we do.
  await chmod(directory, 0o755)
  const dataDir = join(directory, 'data')
  const port = await freePort()
  const start = () => startServiceProcess({ dataDir, port, environment: { RATE_LIMIT_REQUESTS: '0' } })
  let service = start()
  try {
    await service.ready
    const caller = makeCaller(`http://localhost:${port}`, await setUpFirm(port, dataDir), 'read write crm')
    const ids = new Map<number, string>()
    const sending = sendAll(caller, { leads, clients }, ids)
    for (let kill = 1; kill <= kills; kill++) {
      await pause(Math.random() * 1_500)
      await service.kill(Math.random() < 0.7 ? 'family' : 'process')
      service = start()
      await service.ready
    }
    await sending
    const unsettled = await settle(caller, [...ids.values()])
    return [...unsettled, ...(await faultsOf(dataDir, ids, leads))]
  } finally {
    await service.kill('family')
    await rm(directory, { recursive: true, force: true })
  }
}

/** A firm of its own: nobody is asked about its leads, so that none has to wait. */
const setUpFirm = async (port: number, dataDir: string) => {
  const server = { client_id: crypto.randomUUID(), client_secret: crypto.randomUUID() }
  const firm = {
    slug: 'sends-leads',
    name: 'A firm that sends leads',
    api_applications: [{ name: 'Server', ...server, scopes: ['read', 'write', 'crm'] }],
  }
  const response = await fetch(`http://localhost:${port}/admin/v1/setup?apply=true`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${(await readOwnSecrets(dataDir))?.OPERATOR_KEY}`,
      'content-type': 'application/yaml',
    },
    body: stringify({ organisations: [firm] }),
  })
  if (!response.ok) throw new Error(`The firm could not be set up: ${await response.text()}`)
  return server
}

/** Every person is sent twice, by two clients at about the same time. */
const personOf = (lead: number): string => `person-${Math.floor(lead / 2)}@example.com`

const sendAll = async (caller: Caller, { leads, clients }: Omit<Options, 'kills'>, ids: Map<number, string>) => {
  const rest = Array.from({ length: leads }, (_, lead) => lead).values()
  const client = async () => {
    for (const lead of rest) {
      const body = {
        source: 'website',
        identity: { email: personOf(lead) },
        declared: { [`fact_${lead % 2}`]: lead },
        data: { [`wish_${lead % 2}`]: lead },
        text: `Call me about ${lead}`,
      }
      const { id } = await caller.send('POST', '/crm/ingests', body, { 'idempotency-key': `lead-${lead}` })
      ids.set(lead, id)
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
}

const settle = async (caller: Caller, ids: readonly string[]): Promise<readonly string[]> => {
  const faults: string[] = []
  const deadline = Date.now() + patienceMs
  const rest = ids.values()
  const wait = async () => {
    for (const id of rest)
      for (;;) {
        const { status } = await caller.send('GET', `/crm/ingests/${id}`)
        if (status === 'applied') break
        if (Date.now() > deadline) {
          faults.push(`ingest ${id} is still ${String(status)}`)
          break
        }
        await pause(20)
      }
  }
  await Promise.all(Array.from({ length: 8 }, wait))
  return faults
}

/** Each lead was received once, each person became one lead and came back once, and all that was sent is there once. */
const faultsOf = async (dataDir: string, ids: ReadonlyMap<number, string>, leads: number) => {
  const log = postgresLog({ url: await databaseOf(dataDir) })
  try {
    const events = await readWholeLog(log)
    const counted = (type: string) => events.filter((event) => event.type === type).length
    const people = Math.ceil(leads / 2)
    const expected: Readonly<Record<string, number>> = {
      IngestReceived: leads,
      IngestResolved: leads,
      IngestApplied: leads,
      CustomerSentIn: people,
      LeadCreated: people,
      LeadSentAgain: leads - people,
      // What was declared, and what was read.
      LeadFactsRecorded: 2 * leads,
      // What each wrote, and those who came back.
      LeadActivityRecorded: leads + leads - people,
    }
    return [
      ...faultsOfLog(events),
      ...(new Set(ids.values()).size === leads ? [] : ['some leads were given one id']),
      ...Object.entries(expected).flatMap(([type, count]) =>
        counted(type) === count ? [] : [`${counted(type)} × ${type} where ${count} should be`],
      ),
    ]
  } finally {
    await log.close()
  }
}

const usage = `Usage: npm run kill:ingests -- [--leads 5000] [--kills 10] [--clients 8]

Kills the whole service again and again while leads are sent to it, and looks for what got lost or doubled.
`

const main = async (): Promise<number> => {
  const { values } = readOptions(usage, {
    options: { leads: { type: 'string' }, kills: { type: 'string' }, clients: { type: 'string' } },
  })
  const leads = Number(values.leads ?? 5_000)
  const kills = Number(values.kills ?? 10)
  const faults = await killDuringIngests({ leads, kills, clients: Number(values.clients ?? 8) })
  for (const fault of faults.slice(0, 20)) process.stdout.write(`✘ ${fault}\n`)
  process.stdout.write(`${leads} leads, ${kills} kills, ${faults.length} faults.\n`)
  return faults.length === 0 ? 0 : 1
}

if (import.meta.main) process.exit(await main())
