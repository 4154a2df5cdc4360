import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { demoApplication } from '../../demo/demo.ts'
import { makeCaller } from '../journeys/load.ts'
import { freePort, startServiceProcess, type ServiceProcess } from '../journeys/service-process.ts'
import { commandsOf, runCommands } from './guide.ts'
import { postgresPrograms, startServer } from './postgres-programs.ts'

const onDatabase = async <Row>(url: string, statement: string): Promise<Row[]> => {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(statement)).rows as Row[]
  } finally {
    await client.end()
  }
}

const programs = await postgresPrograms()
const title = 'a dump is restored into another server, as the guide says, and the service continues there'

test.skipIf(programs === undefined)(
  programs === undefined ? `${title} (SKIPPED: no PostgreSQL server with pg_dump was found; set PG_BIN)` : title,
  { timeout: 180_000 },
  async () => {
    const folder = programs ?? ''
    const directory = await mkdtemp(join(tmpdir(), 'coverstream-restore-'))
    await using _directory = { [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }) }
    await chmod(directory, 0o755)
    await using former = await startServer(folder)
    await using next = await startServer(folder)
    const [dump = '', restore = ''] = await commandsOf('docs/operate.md', 'Backup and restore')
    const shell = (environment: Readonly<Record<string, string>>) => ({
      cwd: directory,
      environment: { ...environment, PATH: `${folder}:${process.env['PATH'] ?? ''}` },
    })

    // The former server has run more transactions than the new one will have, which the order of the log depends on.
    await onDatabase(
      former.url,
      'do $$ begin for i in 1 .. 20000 loop perform pg_current_xact_id(); commit; end loop; end $$',
    )
    const port = await freePort()
    const started: ServiceProcess[] = []
    await using _started = {
      [Symbol.asyncDispose]: async () => void (await Promise.all(started.map(async (each) => each.kill('family')))),
    }
    const start = (url: string) => {
      const dataDir = join(directory, 'data')
      const service = startServiceProcess({ dataDir, port, environment: { DATABASE_URL: url } })
      started.push(service)
      return service
    }
    const api = makeCaller(`http://localhost:${port}`, await demoApplication())
    const service = start(former.url)
    await service.ready
    const asked = { product_slug: 'term-life', journey_slug: 'standard' }
    const application = await api.send('POST', '/applications', asked)
    const answered = await api.send('PATCH', `/applications/${application.id}`, { answers: { occupation: 'Teacher' } })
    await runCommands(dump, shell({ DATABASE_URL: former.url }))
    service.interrupt()
    expect(await service.ended).toMatchObject({ code: 0 })

    const restored = Object.assign(new URL(next.url), { pathname: 'coverstream_restored' }).href
    await runCommands(restore, shell({ SERVER_URL: next.url, RESTORED_URL: restored }))
    const again = start(restored)
    await again.ready

    // What was encrypted can be read, and what is written now comes after it.
    expect(await api.send('GET', `/applications/${application.id}`)).toEqual(answered)
    const customer = { first_name: 'Grace', last_name: 'Okafor', email: 'grace@example.com' }
    const saved = await api.send('PATCH', `/applications/${application.id}/customer`, { customer })
    expect(await api.send('GET', `/applications/${application.id}`)).toEqual(saved)
    const [offset] = await onDatabase<{ transaction_offset: string }>(
      restored,
      'select transaction_offset from event_log.state',
    )
    expect(Number(offset?.transaction_offset)).toBeGreaterThan(10_000)
    again.interrupt()
    expect(await again.ended).toMatchObject({ code: 0 })
  },
)
