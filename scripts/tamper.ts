import { spawn } from 'node:child_process'
import { endMisunderstood, readOptions } from '#infra/command-line.ts'

const usage = `Usage: npm run tamper -- [--alterations N] [--seed N]

Alters the database of a filled audit log by hand in N random ways, 1,000 if it is not said, one after the other: events, entries,
fingerprints and checkpoints are changed, taken out, put in and put in another order; the last twentieth cuts the end of a log off
with all that the audit log holds of it. Each must be found, with the first bad position. What was missed is printed with the seed
by which it is done again.
`

const { values } = readOptions(usage, {
  options: { alterations: { type: 'string', default: '1000' }, seed: { type: 'string' } },
})
const wanted = Number(values.alterations.replaceAll(',', ''))
if (!Number.isSafeInteger(wanted) || wanted < 1) endMisunderstood([`--alterations ${values.alterations}`], usage)
const { seed = String(Date.now() % 1_000_000) } = values
if (!/^\d{1,9}$/.test(seed)) endMisunderstood([`--seed ${seed}`], usage)

const startedAt = performance.now()
const run = spawn('vitest', ['run', 'test/audit-tree/tampering.test.ts'], {
  env: { ...process.env, TAMPERINGS: String(wanted), TAMPERING_SEED: seed, FORCE_COLOR: '0' },
  stdio: ['ignore', 'pipe', 'inherit'],
})
let told = ''
run.stdout.on('data', (text: Buffer) => (told += text.toString()))
run.on('close', (status) => {
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0)
  if (status !== 0) process.stdout.write(told)
  else process.stdout.write(`${wanted.toLocaleString('en')} alterations, all found, in ${seconds} s (seed ${seed})\n`)
  process.exitCode = status ?? 1
})
