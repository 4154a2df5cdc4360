import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { TrialBalance } from '#domain/ledger/record.ts'
import { readOptions } from '#infra/command-line.ts'
import { readConfig } from '#infra/config.ts'
import { readOwnSecrets } from '#infra/local-installation.ts'
import { demoSlug } from './demo.ts'

readOptions(
  `Usage: npm run demo:year

Moves the test clock of a running demo on by a year, month by month: premiums fall due, are collected, fail and are asked for again.
Shows what became of them, and that the ledger of the demo firm balances and has nothing left to receive.
`,
  {},
)

const fail = (line: string): never => {
  process.stderr.write(`${line}\n`)
  process.exit(1)
}

const { BASE_URL, DATA_DIR, OPERATOR_KEY } = readConfig(process.env)
const key =
  OPERATOR_KEY ??
  (await readOwnSecrets(DATA_DIR))?.OPERATOR_KEY ??
  fail('Give OPERATOR_KEY, or the DATA_DIR that npm start was given.')

const ask = async <Answer extends z.ZodType>(
  path: string,
  answer: Answer,
  body?: object,
): Promise<z.output<Answer>> => {
  const response = await fetch(`${BASE_URL}/admin/v1/${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  }).catch(() => fail(`Nothing answers at ${BASE_URL}. Start the service first (npm start), or name its BASE_URL.`))
  const text = await response.text()
  return response.ok ? answer.parse(JSON.parse(text)) : fail(`${path} was answered ${response.status}: ${text}`)
}

const Organisations = z.object({ data: z.array(z.object({ id: z.string(), slug: z.string() })) })
const organisations = await ask('organisations', Organisations)
const slug = await demoSlug()
const organisation_id =
  organisations.data.find((each) => each.slug === slug)?.id ?? fail('The demo firm is not set up here.')

const statuses = ['due', 'requested', 'failed', 'collected', 'written_off'] as const
type Counts = Readonly<Record<(typeof statuses)[number], number>>

const Premiums = z.object({ data: z.array(z.unknown()), next_cursor: z.string().nullable() })
const count = async (status: string, cursor?: string): Promise<number> => {
  const asked = new URLSearchParams({ organisation_id, status, limit: '200', ...(cursor && { cursor }) })
  const { data, next_cursor } = await ask(`premiums?${asked.toString()}`, Premiums)
  return data.length + (next_cursor === null ? 0 : await count(status, next_cursor))
}
const countAll = async (): Promise<Counts> => {
  const counts = await Promise.all(statuses.map(async (status) => [status, await count(status)] as const))
  return Object.fromEntries(counts) as Counts
}

/** Longer than all stand-ins together take to answer. */
const patienceMs = 180_000

/** Waits until the banks have answered for every premium that is due. */
const untilAnswered = async (): Promise<Counts> => {
  const startedAt = performance.now()
  for (let quiet = 0; ;) {
    const counts = await countAll()
    quiet = counts.due + counts.requested === 0 ? quiet + 1 : 0
    // What has just fallen due is not listed yet.
    if (quiet === 3) return counts
    if (performance.now() - startedAt > patienceMs) fail(`Premiums are still under way: ${JSON.stringify(counts)}`)
    await pause(1_000)
  }
}

const Clock = z.object({ data: z.object({ now: z.string() }) })
const monthSeconds = 2_629_800
for (let month = 1; month <= 12; month++) {
  const { data } = await ask('clock', Clock, { forward_seconds: monthSeconds })
  const counts = await untilAnswered()
  const told = statuses.map((status) => `${counts[status]} ${status}`).join(', ')
  process.stdout.write(`${data.now.slice(0, 10)}: premiums ${told}\n`)
}

const path = `organisations/${organisation_id}/ledger/trial_balance`
const { balanced, data: books } = await ask(path, z.object({ balanced: z.boolean(), data: z.array(TrialBalance) }))
const line = (name: string, debit: number | string, credit: number | string): void => {
  process.stdout.write(`${name.padEnd(20)}${String(debit).padStart(12)}${String(credit).padStart(12)}\n`)
}
for (const { currency_code, accounts, debit_pence, credit_pence } of books) {
  line(`\n${currency_code}, in pence`, 'debit', 'credit')
  for (const each of accounts) line(each.account, each.debit_pence, each.credit_pence)
  line('total', debit_pence, credit_pence)
}
if (!balanced) fail('Debits and credits differ.')
process.stdout.write('\nDebits and credits are equal.\n')
