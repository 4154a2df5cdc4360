import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { compiled } from '../compiled.ts'
import { testDatabase } from '../database.ts'
import { freePort, untilGone } from './service-process.ts'

/**
 * Starts a role, which goes about it as every process of ours does, and says its number. A shell that is killed stands for
 * npm, which may have another one between.
 */
const service = `${process.execPath} query-api/main.ts & echo "service $!"; wait`

test.each([
  ['npm', service],
  ['a shell of npm', `sh -c '${service}'; true`],
])(
  'a supervisor that kills npm alone leaves no service behind that %s started',
  { timeout: 120_000 },
  async (_who, command) => {
    await using database = await testDatabase()
    const npm = spawn('sh', ['-c', command], {
      cwd: join(import.meta.dirname, '..', '..'),
      env: {
        ...compiled(),
        PATH: process.env['PATH'],
        npm_lifecycle_event: 'start',
        DATABASE_URL: database.url,
        MASTER_KEY: Buffer.alloc(32, 'a master key for tests ').toString('base64'),
        PORT: String(await freePort()),
        HEALTH_PORT: '0',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let output = ''
    npm.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
    await vi.waitUntil(() => output.includes('role ready'), { timeout: 100_000 })
    const pid = z.coerce.number().parse(/^service (\d+)$/m.exec(output)?.[1])

    npm.kill('SIGKILL')

    await expect(untilGone([pid])).resolves.toBeUndefined()
  },
)
