import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testDatabase, type TestDatabase } from '../database.ts'
import { freePort, startServiceProcess, type ServiceProcess } from '../journeys/service-process.ts'
import { wayTo } from '../postgres/way.ts'
import { commandsOf, runCommands } from './guide.ts'

let directory: string
let dataDir: string
let origin: string
let service: ServiceProcess
let database: TestDatabase
let way: Awaited<ReturnType<typeof wayTo>>

/** The demo, as `npm start` runs it. */
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'coverstream-after-the-sale-'))
  await chmod(directory, 0o755)
  dataDir = join(directory, 'data')
  const port = await freePort()
  origin = `http://localhost:${port}`
  database = await testDatabase()
  way = await wayTo(database.url)
  const environment = { RATE_LIMIT_REQUESTS: '1000000', DATABASE_URL: way.url }
  service = startServiceProcess({ dataDir, port, environment })
  await service.ready
}, 240_000)
afterAll(async () => {
  await service.kill('family')
  await way[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
  await rm(directory, { recursive: true, force: true })
})

const headings = [
  'The shell',
  'Cancel within the cooling-off period',
  'What a server is told',
  'Give money back',
  'Money that does not go back',
  'Disputes',
  'Claims',
  'Complaints',
  'Cancel later',
  'Decide a referral',
]

test('what comes after the sale is done as the guide says', { timeout: 240_000 }, async () => {
  const blocks = await Promise.all(headings.map(async (heading) => commandsOf('docs/after-the-sale.md', heading)))
  const { OPERATOR_KEY } = JSON.parse(await readFile(join(dataDir, 'secrets.json'), 'utf8')) as { OPERATOR_KEY: string }

  const output = await runCommands(blocks.flat().join('\n'), {
    cwd: directory,
    environment: { BASE_URL: origin, OPERATOR_KEY },
  })

  expect(output).toMatch(/"status":"cancelled".*"cancellation_reason":"cooling_off".*"refund_pence":0/)
  expect(output).toContain('"status":"paid_otherwise"')
  expect(output).toMatch(/"failure_code":"disputed".*"note":"Agreed with the customer\."/)
  expect(output).toContain('"status":"closed"')
  expect(output).toMatch(/"cause":"claim","state":"referred".*"respond_by":"2026-03-09".*"refer_by":"2026-07-20"/)
  expect(output).toContain('"cancellation_reason":"customer_request"')
  expect(output).toContain('referred')
  expect(output).toContain('"decision":"loaded"')
})
