import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { testDatabase } from '../database.ts'
import { freePort, untilGone } from './service-process.ts'

/** Starts the service below a shell that stands for npm, and says the number of the service. */
const belowNpm = `${process.execPath} start.ts & echo "service $!"; wait`

test('a supervisor that kills npm alone leaves no service behind', { timeout: 120_000 }, async () => {
  await using database = await testDatabase()
  const DATA_DIR = await mkdtemp(join(tmpdir(), 'coverstream-npm-'))
  await using _directory = { [Symbol.asyncDispose]: () => rm(DATA_DIR, { recursive: true, force: true }) }
  const npm = spawn('sh', ['-c', belowNpm], {
    cwd: join(import.meta.dirname, '..', '..'),
    env: {
      PATH: process.env['PATH'],
      npm_lifecycle_event: 'start',
      DATABASE_URL: database.url,
      DATA_DIR,
      PORT: String(await freePort()),
      HEALTH_PORT: '0',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  npm.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  await vi.waitUntil(() => output.includes('is ready at'), { timeout: 100_000 })
  const service = z.coerce.number().parse(/^service (\d+)$/m.exec(output)?.[1])

  npm.kill('SIGKILL')

  await expect(untilGone([service])).resolves.toBeUndefined()
})
