import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sql } from '#infra/postgres/postgres.ts'
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
    const stream = 'application-0198f3a2-0000-7000-8000-000000000001'
    const inGuide = (command: string) => {
      const { url: DATABASE_URL } = service.database
      const given = { BASE_URL: undefined, DATABASE_URL, MASTER_KEY: service.parts.config.MASTER_KEY, STREAM: stream }
      return runCommands(command, { cwd: root, environment: given })
    }
    const setAside = () =>
      service.parts.pool.query(sql`
      insert into consumer_set_aside (consumer, record, stream, revision, event_id, type, reason)
      values ('applications', ${stream}, ${stream}, 0, '0198f3a2-0000-7000-8000-000000000002', 'ApplicationStarted', 'a reason')
      on conflict do nothing`)

    await setAside()
    expect(await inGuide(status)).toContain(stream)
    expect(await inGuide(all)).toContain('Records of applications that are resumed: 1.')
    await setAside()
    expect(await inGuide(one)).toContain('Records of applications that are resumed: 1.')
  },
)
