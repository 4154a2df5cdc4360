import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { endMisunderstood, readOptions } from '#infra/command-line.ts'
import { measureApi } from './api.ts'
import { measureDelivery } from './delivery.ts'
import { measureAppend } from './append.ts'
import { measureAsOf } from './as-of.ts'
import { measureConsole } from './console.ts'
import type { Figure } from './figure.ts'
import { describeMachine } from './machine.ts'
import { quick, thorough, type Pace } from './throughput.ts'
import { measureIngests } from './ingests.ts'
import { measureKafka } from './kafka.ts'
import { measureLoyalty } from './loyalty.ts'
import { measureQuotes } from './quotes.ts'
import { measureReplay } from './replay.ts'
import { detailsOf, tableOf } from './report.ts'
import { measureStart } from './start.ts'
import { measureStreams } from './streams.ts'
import { measureVisible } from './visible.ts'
import { makeWorkplace, type Environment } from './environment.ts'

type Measurement = (environment: Environment, pace: Pace) => Promise<readonly Figure[]>

const measurements: Readonly<Record<string, Measurement>> = {
  append: measureAppend,
  replay: measureReplay,
  visible: measureVisible,
  api: measureApi,
  quotes: measureQuotes,
  ingests: measureIngests,
  loyalty: measureLoyalty,
  start: measureStart,
  delivery: measureDelivery,
  kafka: measureKafka,
  'as-of': measureAsOf,
  streams: measureStreams,
  console: measureConsole,
}

const usage = `Usage: npm run bench -- [--only ${Object.keys(measurements).join(',')}] [--rounds N] [--quick]

Measures the service against floors taken in the same run, and writes what it found to .bench/.
`

const say = (text: string) => process.stdout.write(`${text}\n`)

const chosen = () => {
  const { values } = readOptions(usage, {
    options: { only: { type: 'string' }, rounds: { type: 'string' }, quick: { type: 'boolean' } },
  })
  const names = values.only?.split(',') ?? Object.keys(measurements)
  const rounds = values.rounds === undefined ? undefined : Number(values.rounds)
  const unknown = names.filter((name) => !Object.hasOwn(measurements, name))
  if (unknown.length > 0) endMisunderstood(['--only', ...unknown], usage)
  if (rounds !== undefined && !(Number.isInteger(rounds) && rounds > 0))
    endMisunderstood(['--rounds', String(values.rounds)], usage)
  const pace = values.quick ? quick : thorough
  return { names, pace: { ...pace, ...(rounds && { rounds }) } }
}

const main = async () => {
  const { names, pace } = chosen()
  const environment = await makeWorkplace()
  const leave = (code: number) => {
    void environment.clear().finally(() => process.exit(code))
  }
  // Once the environment is being cleared, whatever still works there fails, and that is all right.
  const fail = (error: unknown) => {
    if (environment.isCleared()) return
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
    leave(1)
  }
  process.once('SIGINT', () => leave(130)).once('SIGTERM', () => leave(143))
  process.on('uncaughtException', fail)
  try {
    const machine = await describeMachine(environment)
    for (const [name, fact] of Object.entries(machine)) say(`${name}: ${fact}`)
    const figures: Figure[] = []
    for (const name of names) {
      say(`\nmeasuring: ${name} …`)
      const found = (await measurements[name]?.(environment, pace)) ?? []
      figures.push(...found)
      say(tableOf(found))
    }

    const file = join(import.meta.dirname, '..', '.bench', `${new Date().toISOString().replaceAll(':', '-')}.json`)
    await mkdir(join(file, '..'), { recursive: true })
    await writeFile(file, `${JSON.stringify({ machine, pace, figures }, undefined, 2)}\n`)
    const details = figures.map(detailsOf).filter((text) => text !== undefined)
    say(`\n${tableOf(figures)}\n\n${details.join('\n')}\n\nWritten to ${file}`)
    await environment.clear()
  } catch (error) {
    fail(error)
  }
}

await main()
