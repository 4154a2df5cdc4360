import { spawnSync } from 'node:child_process'
import { mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sql } from '#infra/postgres/postgres.ts'
import { testDatabase } from '../database.ts'
import { freePort } from '../journeys/service-process.ts'
import { wholeService } from '../whole-service.ts'
import { commandsOf, runCommands } from './guide.ts'

const root = join(import.meta.dirname, '..', '..')

test(
  'consumers are shown, and records that were set aside resumed, as the guide says',
  { timeout: 120_000 },
  async () => {
    await using service = await wholeService()
    const [commands = ''] = await commandsOf('docs/operate.md', 'Records that are set aside')
    const [status = '', all = '', one = ''] = commands.trim().split('\n')
    const streams = [
      'application-0198f3a2-0000-7000-8000-000000000001',
      'application-0198f3a2-0000-7000-8000-000000000003',
    ]
    const inGuide = (command: string, STREAM?: string) => {
      const { url: DATABASE_URL } = service.database
      const given = { BASE_URL: undefined, DATABASE_URL, MASTER_KEY: service.parts.config.MASTER_KEY, STREAM }
      return runCommands(command, { cwd: root, environment: given })
    }

    for (const [command, stream] of [
      [all, streams[0]],
      [one, streams[1]],
    ]) {
      await service.parts.pool.query(sql`
        insert into consumer_set_aside (consumer, record, stream, revision, event_id, type, reason)
        values ('applications', ${stream}, ${stream}, 0, '0198f3a2-0000-7000-8000-000000000002', 'ApplicationStarted', 'a reason')`)
      expect(await inGuide(status)).toContain(stream)
      expect(await inGuide(command ?? '', stream)).toMatch(/^Records of applications that are resumed: /m)
    }
  },
)

/** Runs the first commands of the guide for the roles, and says what they wrote. */
const runApart = async (settings: Readonly<Record<string, string>>) => {
  const folder = await mkdtemp(join(tmpdir(), 'coverstream-roles-'))
  await using _folder = { [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) }
  for (const name of await readdir(root)) await symlink(join(root, name), join(folder, name))
  const [apart = ''] = await commandsOf('docs/operate.md', 'Run the roles apart')
  const ports = [4100, 4101, 4110, 4111, 4112, 4113]
  const free = await Promise.all(ports.map(async (port) => [String(port), String(await freePort())] as const))
  const commands = free.reduce((text, [port, other]) => text.replaceAll(port, other), apart)
  // What was started in the background is ended, whatever comes before.
  const script = `trap 'kill $(jobs -p) 2> /dev/null || true; wait' EXIT\n${commands}\necho all are ready\n`
  const environment = {
    BASE_URL: 'http://localhost:4000',
    MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    OPERATOR_KEY: 'the operator key of the tests',
    ...settings,
  }
  return await runCommands(script, { cwd: folder, environment })
}

test('the four roles run apart as the guide says', { timeout: 240_000 }, async () => {
  await using database = await testDatabase()
  expect(await runApart({ DATABASE_URL: database.url })).toBe('all are ready\n')
})

test('the guide waits no longer for a role that cannot start', { timeout: 240_000 }, async () => {
  expect(await runApart({ DATABASE_URL: 'embedded' })).toMatch(
    /^the role of port \d+ has ended: its log says why\nall are ready\n$/,
  )
})

const isPresent = (command: string): boolean => spawnSync(command, ['--version']).status === 0
const psql = isPresent('psql')
const title = 'the size of the log and of the database is shown as the guide says'

test.skipIf(!psql)(psql ? title : `${title} (SKIPPED: no psql was found)`, { timeout: 120_000 }, async () => {
  await using service = await wholeService()
  const [sizes = ''] = await commandsOf('docs/operate.md', 'PostgreSQL, and how large')

  const environment = { DATABASE_URL: service.database.url }
  expect(await runCommands(sizes, { cwd: root, environment })).toMatch(/^\d+\|\d+\|\d+\n$/)

  const [open = ''] = await commandsOf('docs/operate.md', 'An append that stays open')
  const other = await service.database.pool.connect()
  try {
    await other.query(
      "begin; set local application_name = 'a long report'; lock table event_log.event in row exclusive mode",
    )

    expect(await runCommands(open, { cwd: root, environment })).toMatch(/^\d+\|.*\|a long report\|00:00:/m)
  } finally {
    await other.query('rollback')
    other.release()
  }
})
