import { postgresLog } from '#infra/event-log/postgres/postgres-log.ts'
import { migrate } from '#infra/postgres/migrations.ts'
import { createPool } from '#infra/postgres/postgres.ts'
import { inTurns, median, rated, type Figure } from './figure.ts'
import type { Pace } from './throughput.ts'
import { sealed } from './sealed.ts'
import { past } from './history.ts'
import type { Replayed } from './replay-process.ts'
import type { Environment } from './environment.ts'

const atOnce = 512

/** Fills the log with a past of so many events. */
export const live = async (url: string, events: number, isSealed: boolean): Promise<void> => {
  const pool = createPool(url)
  await migrate(pool)
  const plain = postgresLog({ url })
  const log = isSealed ? sealed(plain, pool) : plain
  const source = past(events)
  // Appends to one stream keep the order in which they were asked for.
  const writer = async () => {
    for (const { stream, event } of source) await log.append(stream, 'any', [event])
  }
  await Promise.all(Array.from({ length: atOnce }, writer))
  await log.close()
  await pool.query('vacuum analyze event_log.event')
  await pool.end()
}

/**
 * The events of a busy time into an empty read model through its real runner, in a process of its own, against the same
 * rows, batch by batch, written by nothing but a multi-row upsert. Then the same events with their personal data sealed,
 * against those without sealing.
 */
export const measureReplay = async (environment: Environment, { rounds, events }: Pace): Promise<readonly Figure[]> => {
  const url = await environment.database('replay')
  await live(url, events, false)
  const sealedUrl = await environment.database('replay_sealed')
  await live(sealedUrl, events, true)

  const runs: Replayed[] = []
  const program = ['--expose-gc', `${import.meta.dirname}/replay-process.ts`]
  const perSecond = async (work: 'replay' | 'rebuild' | 'upsert' | 'all', of = url): Promise<number> => {
    const child = environment.run(process.execPath, [...program, of, work])
    const [line] = await child.says(/^\{.*\}$/m)
    const replayed = JSON.parse(line) as Replayed // our own program's
    if (work === 'replay' && of === url) runs.push(replayed)
    await child.stop()
    return events / replayed.seconds
  }

  const measured = await inTurns(
    rounds,
    () => perSecond('upsert'),
    () => perSecond('replay'),
  )
  const sealedMeasured = await inTurns(
    rounds,
    () => perSecond('replay'),
    () => perSecond('replay', sealedUrl),
  )
  const rebuilt: number[] = []
  for (let round = 0; round < rounds; round++) rebuilt.push(await perSecond('rebuild'))

  const asTheyWere: number[] = []
  for (let round = 0; round < rounds; round++) asTheyWere.push(await perSecond('all', sealedUrl))

  const memory = (of: (replayed: Replayed) => number): number => median(runs.map(of))
  const growth = memory(({ secondQuarter, lastQuarter }) => lastQuarter / secondQuarter)
  return [
    rated(`replay of ${events.toLocaleString('en-GB')} events`, measured, { target: { ratio: 1, atLeast: 40_000 } }),
    rated('replay of as many, sealed, to not', sealedMeasured),
    { name: 'rebuild of the same', unit: 'per second', value: median(rebuilt) },
    { name: 'all read models as they were, sealed', unit: 'per second', value: median(asTheyWere) },
    {
      name: 'memory of a replay, end to half-way',
      unit: '×',
      value: growth,
      target: { below: 1.25 },
      details: {
        'MB at rest': memory(({ atRest }) => atRest),
        'second quarter': memory(({ secondQuarter }) => secondQuarter),
        'last quarter': memory(({ lastQuarter }) => lastQuarter),
        most: memory(({ most }) => most),
        afterwards: memory(({ afterwards }) => afterwards),
        'heap at rest': memory(({ heapAtRest }) => heapAtRest),
        'heap afterwards': memory(({ heapAfterwards }) => heapAfterwards),
      },
    },
  ]
}
