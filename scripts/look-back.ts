import { spawn } from 'node:child_process'
import { endMisunderstood, readOptions } from '#infra/command-line.ts'

const usage = `Usage: npm run look-back -- [--acts N] [--seed N]

Has N acts happen in a firm at random, 10,000 if it is not said, a few at a time: people apply, buy, claim and complain, leads come
and are worked, time passes, and some people are erased. Keeps what addresses answer meanwhile, and compares each answer with the one
as of its position. What differs, but for what is gone with people, is printed with the seed that chooses the same acts again.
`

const { values } = readOptions(usage, {
  options: { acts: { type: 'string', default: '10000' }, seed: { type: 'string' } },
})
const wanted = Number(values.acts.replaceAll(',', ''))
if (!Number.isSafeInteger(wanted) || wanted < 1) endMisunderstood([`--acts ${values.acts}`], usage)
const { seed = String(Date.now() % 1_000_000) } = values
if (!/^\d{1,9}$/.test(seed)) endMisunderstood([`--seed ${seed}`], usage)

const run = spawn('vitest', ['run', 'test/audit/random'], {
  env: { ...process.env, RANDOM_ACTS: String(wanted), RANDOM_ACTS_SEED: seed, FORCE_COLOR: '0' },
  stdio: ['ignore', 'pipe', 'inherit'],
})
let told = ''
run.stdout.on('data', (text: Buffer) => (told += text.toString()))
run.on('close', (status) => {
  if (status !== 0) process.stdout.write(told)
  process.exitCode = status ?? 1
})
