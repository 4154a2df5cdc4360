import { join } from 'node:path'
import { Client } from 'pg'
import { migrate } from '#infra/postgres/migrations.ts'
import { createPool, sql } from '#infra/postgres/postgres.ts'
import { median, type Figure } from './figure.ts'
import { memoryOf } from './memory.ts'
import { freePort } from './service.ts'
import type { Environment } from './environment.ts'

/** From `npm start` to a service that is ready, on a PostgreSQL of its own: with nothing there yet, and again. */
export const measureStart = async (environment: Environment): Promise<readonly Figure[]> => {
  const port = String(await freePort())
  const variables = { PORT: port, DATA_DIR: join(environment.directory, 'start') }

  const start = async (name: string, target: Figure['target']): Promise<Figure> => {
    const startedAt = performance.now()
    const child = environment.run('npm', ['start'], variables)
    await child.says(/is ready at/)
    const seconds = (performance.now() - startedAt) / 1_000
    await child.stop()
    return { name, unit: 's', value: seconds, ...(target && { target }) }
  }

  return [
    await start('npm start to ready, first time', { below: 10 }),
    await start('npm start to ready, again', { below: 10 }),
    ...(await measureHistory(environment)),
  ]
}

const history = 1_000_000
const apis = ['command-api', 'query-api'] as const

type Started = { readonly seconds: number; readonly megabytes: number }

/** What a long log costs an API process at its start: compared with an empty log, in turn so that both share the noise. */
const measureHistory = async (environment: Environment): Promise<readonly Figure[]> => {
  const [empty, long] = [await environment.database('start_empty'), await environment.database('start_long')]
  for (const [url, events] of [
    [empty, 0],
    [long, history],
  ] as const)
    await fill(url, events)

  const start = async (api: string, url: string): Promise<Started> => {
    const startedAt = performance.now()
    const child = environment.run('node', [`${api}/main.ts`], {
      PORT: String(await freePort()),
      HEALTH_PORT: String(await freePort()),
      DATABASE_URL: url,
      MASTER_KEY: Buffer.alloc(32, 'a master key for benches').toString('base64'),
    })
    await child.says(/role ready/)
    const started = { seconds: (performance.now() - startedAt) / 1_000, megabytes: await memoryOf(child.pid) }
    await child.stop()
    return started
  }

  const figures: Figure[] = []
  for (const api of apis) {
    const [few, many]: [Started[], Started[]] = [[], []]
    for (let round = 0; round < 3; round++) {
      few.push(await start(api, empty))
      many.push(await start(api, long))
    }
    for (const [what, unit] of [
      ['seconds', 's'],
      ['megabytes', 'MB'],
    ] as const) {
      const [without, withHistory] = [few, many].map((all) => median(all.map((each) => each[what])))
      const name = `${api} ready, ${what === 'seconds' ? 'time' : 'memory'}`
      figures.push(
        { name: `${name}, empty log`, unit, value: without ?? NaN },
        { name: `${name}, 10^6 events`, unit, value: withHistory ?? NaN, target: { below: 1.5 * (without ?? NaN) } },
      )
    }
  }
  return figures
}

/** The tables of the service, and so many events of applications in the log. */
const fill = async (url: string, events: number): Promise<void> => {
  const pool = createPool(url)
  await migrate(pool)
  await pool.end()
  // A connection without the deadlines of the service.
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query(sql`
    insert into event_log.event (transaction_id, revision, id, schema_version, stream, category, type, data, metadata)
    select 1, n % 10, gen_random_uuid(), 1, 'application-' || (n / 10), 'application', 'AnswersSaved',
      json_build_object('text', repeat('x', 300)), json_build_object('organisation_id', 'org', 'number', n)
    from generate_series(0, ${events}::integer - 1) as n`)
  await client.query('analyze event_log.event')
  await client.end()
}
