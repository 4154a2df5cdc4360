import { spawn } from 'node:child_process'
import { endMisunderstood, readOptions } from '#infra/command-line.ts'

const usage = `Usage: npm run money -- [--histories N]

Takes N random histories of premiums, 1,000,000 if it is not said: by card, by Direct Debit and beside each other, with processes
that are killed between any two writes and news that is lost, told twice and out of order. In each, what is recorded is what the
provider holds, and no payment is kept twice or for nothing. Ends at the first history that differs, and prints it with the seed
by which fast-check takes it again.
`

const { values } = readOptions(usage, { options: { histories: { type: 'string', default: '1000000' } } })
const wanted = Number(values.histories.replaceAll(',', ''))
if (!Number.isSafeInteger(wanted) || wanted < 1) endMisunderstood([`--histories ${values.histories}`], usage)

// Each part ends long before its tests time out, also on a machine that does something else.
const most = 25_000
const files = ['test/premiums/settle.test.ts', 'test/premiums/money.test.ts']

/** The tests say how they share the histories out: most are pure, and one in ten goes over the real command side. */
const take = async (histories: number): Promise<number> => {
  const run = spawn('vitest', ['run', ...files], {
    env: { ...process.env, HISTORIES: String(histories), FORCE_COLOR: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let told = ''
  run.stdout.on('data', (text: Buffer) => (told += text.toString()))
  const code = await new Promise<number>((resolve, reject) => {
    run.on('error', reject)
    run.on('close', (status) => resolve(status ?? 1))
  })
  if (code !== 0) process.stdout.write(told)
  return code
}

const startedAt = performance.now()
for (let taken = 0; taken < wanted;) {
  const histories = Math.min(most, wanted - taken)
  const code = await take(histories)
  if (code !== 0) process.exit(code)
  taken += histories
  const minutes = (performance.now() - startedAt) / 60_000
  process.stdout.write(
    `${taken.toLocaleString('en')} of ${wanted.toLocaleString('en')} histories, none differs, ${minutes.toFixed(1)} min\n`,
  )
}
