import { execFile } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { readVerifier } from '#infra/audit-tree/signed-note.ts'
import { verifyFile } from '../../cli/audit/verify-file.ts'
import { firm } from '../audit/firm.ts'
import { wholeService } from '../whole-service.ts'
import { hasGo, verifierInGo } from './go.ts'

const AUDIT_KEY = Buffer.alloc(32, 3).toString('base64')
const root = join(import.meta.dirname, '..', '..')

let service: Awaited<ReturnType<typeof wholeService>>
let folder: string
let organisation: string
/** Applications that were started one after the other. */
let applications: readonly string[]

beforeAll(async () => {
  service = await wholeService({ AUDIT_KEY })
  folder = await mkdtemp(join(tmpdir(), 'coverstream-exports-'))
  await service.setUp(firm('audited'))
  const { body } = await service.send<{ id: string }[]>('GET', '/admin/v1/organisations')
  organisation = body.data[0]?.id ?? ''
  const { token } = await service.client(organisation, ['read', 'write'])
  const started: string[] = []
  for (let number = 0; number < 3; number++) {
    const sent = { product_slug: 'simple-life', journey_slug: 'standard' }
    const { body: answer } = await service.send<{ id: string }>('POST', '/api/v1/applications', { token, body: sent })
    started.push(answer.data.id)
  }
  applications = started
  await untilSigned()
}, 120_000)
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

/** Waits until what happened is in the audit log and signed. */
const untilSigned = async () => {
  const events = await service.parts.eventLog.readAll({ limit: 1_000 })
  const wanted = events.filter(({ metadata }) => metadata.organisation_id === organisation).length
  await vi.waitFor(
    async () => {
      const path = `/audit/v1/organisations/${organisation}/log`
      const { body } = await service.send<{ checkpoint: { size: number } | null }>('GET', path)
      expect(body.data.checkpoint?.size).toBe(wanted)
    },
    { timeout: 60_000, interval: 100 },
  )
}

type Ended = { readonly code: number; readonly stdout: string; readonly stderr: string }

const audit = (words: readonly string[], environment: Readonly<Record<string, string>>): Promise<Ended> =>
  promisify(execFile)(process.execPath, [join(root, 'cli', 'audit.ts'), ...words], {
    cwd: folder,
    env: { PATH: process.env['PATH'], ...environment },
  }).then(
    (printed) => ({ code: 0, ...printed }),
    (error: unknown) => error as Ended,
  )

const exportTo = async (file: string, ...words: string[]): Promise<Ended> =>
  audit(['export', '--organisation', organisation, '--to', file, ...words], {
    BASE_URL: service.baseUrl,
    ...service.environment,
    AUDIT_KEY,
  })

type Line = { readonly index?: number; readonly record?: { readonly stream: string; readonly type: string } }

const exported = async (...words: string[]) => {
  const file = join(folder, `${randomInt(2 ** 40)}.jsonl`)
  await vi.waitFor(async () => expect(await exportTo(file, ...words)).toMatchObject({ code: 0 }), { timeout: 60_000 })
  const bytes = await readFile(file)
  const lines = bytes.toString().trimEnd().split('\n')
  const entries = lines.slice(1, -1).map((line) => JSON.parse(line) as Line)
  return { file, bytes, lines, entries }
}

async function* linesOf(bytes: Buffer) {
  for (let from = 0; from < bytes.length;) {
    const newline = bytes.indexOf('\n', from)
    const end = newline < 0 ? bytes.length : newline + 1
    yield bytes.subarray(from, end)
    from = end
  }
}

const verify = (bytes: Buffer) => verifyFile(linesOf(bytes), undefined)

test('an export of a record holds its events, and is verified where there is no service and no database', async () => {
  const [, application = ''] = applications
  const { file, entries } = await exported('--record', `application-${application}`)

  expect(entries.map(({ record }) => record?.type)).toEqual(['ApplicationStarted'])
  const { code, stdout } = await audit(['verify', file], { DATABASE_URL: 'postgres://127.0.0.1:1/none' })
  expect(stdout).toMatch(
    new RegExp(`^1 events are as they were recorded in service.test/audit/${organisation}, which had \\d+ entries`),
  )
  const key = /^Signed with (\S+)$/m.exec(stdout)?.[1] ?? ''
  expect(readVerifier(key)?.name).toBe(`service.test/audit/${organisation}`)
  expect(code).toBe(0)
  expect(await audit(['verify', file, '--key', key], {})).toMatchObject({ code: 0 })
})

test('an export of a period holds the events that were recorded then, and that of a person those about them', async () => {
  const [first = '', second = ''] = applications
  const all = await exported()
  const stream = `application-${second}`
  const [started] = await service.parts.eventLog.read(stream)
  const from = started?.recorded_at.toISOString() ?? ''

  const later = await exported('--from', from)
  const earlier = await exported('--until', from)
  const nobody = await exported('--person', '6f8f3a52-6f39-4f0e-9c5b-0d2c65d1a009')

  const streamsOf = ({ entries }: typeof all) => entries.map(({ record }) => record?.stream)
  expect(all.entries.map(({ index }) => index)).toEqual(all.entries.map((_, place) => place))
  expect(streamsOf(later)).toContain(stream)
  expect(streamsOf(later)).not.toContain(`application-${first}`)
  expect([...streamsOf(earlier), ...streamsOf(later)]).toEqual(streamsOf(all))
  expect(nobody.entries).toEqual([])
  for (const { bytes, entries } of [all, later, earlier, nobody])
    expect(await verify(bytes)).toMatchObject({ entries: entries.length })
})

test('an export in which any byte was changed is refused, and the line is named', async () => {
  const { bytes } = await exported()
  for (let number = 0; number < 300; number++) {
    const place = randomInt(bytes.length)
    const changed = Buffer.from(bytes)
    changed.writeUInt8(changed.readUInt8(place) ^ randomInt(1, 256), place)
    const line = bytes.subarray(0, place).toString('latin1').split('\n').length

    expect({ place, found: await verify(changed) }).toMatchObject({ place, found: { line } })
  }
})

test('an export of which lines were taken out, doubled or moved is refused', async () => {
  const { lines } = await exported()
  const last = lines.length
  const [manifest = '', one = '', two = '', ...others] = lines
  const verified = (...some: string[]) => verify(Buffer.from(some.map((line) => `${line}\n`).join('')))
  const wrong = (line: number) => ({ line, reason: expect.stringContaining('some were taken out') as string })

  expect(await verified(manifest, one, ...others)).toEqual(wrong(last - 1))
  expect(await verified(manifest, one, one, two, ...others)).toEqual(wrong(last + 1))
  expect(await verified(manifest, two, one, ...others)).toEqual(wrong(last))
  expect(await verified(...lines.slice(0, -1))).toEqual({ line: last, reason: 'the end of the export is missing' })
  expect(await verified(...lines, one)).toMatchObject({ line: last + 1 })
})

test('an export that another key has signed is refused by whoever has the right one', async () => {
  const { file } = await exported()
  const key = `service.test/audit/${organisation}+00000000+AAAA`
  const { stdout } = await audit(['verify', file], {})
  const own = readVerifier(/^Signed with (\S+)$/m.exec(stdout)?.[1] ?? '')
  if (!own) throw new Error('There is no key.')

  expect(await audit(['verify', file, '--key', key], {})).toMatchObject({ code: 2 })
  const other = { ...own, publicKey: Buffer.alloc(32, 1) }
  expect(await verifyFile(linesOf(await readFile(file)), other)).toEqual({
    line: 1,
    reason: 'its checkpoint is not signed with that key',
  })
})

test('nothing is exported over a file that is there, of an organisation that has no log, or for two questions at once', async () => {
  const file = join(folder, 'kept.txt')
  await writeFile(file, 'kept')

  expect(await exportTo(file)).toMatchObject({ code: 2 })
  expect(await readFile(file, 'utf8')).toBe('kept')
  const unknown = join(folder, 'unknown.jsonl')
  const words = ['export', '--organisation', '6f8f3a52-6f39-4f0e-9c5b-0d2c65d1a009', '--to', unknown]
  const environment = { BASE_URL: service.baseUrl, ...service.environment, AUDIT_KEY }
  expect(await audit(words, environment)).toMatchObject({ code: 2 })
  await expect(readFile(unknown)).rejects.toThrow('ENOENT')
  const both = ['--record', 'application-1', '--person', '6f8f3a52-6f39-4f0e-9c5b-0d2c65d1a009']
  expect(await exportTo(join(folder, 'both.jsonl'), ...both)).toMatchObject({ code: 2 })
})

test.skipIf(!hasGo)(
  'Go’s own packages verify an export, and refuse each in which a byte was changed (skipped without Go and golang.org/x/mod)',
  { timeout: 300_000 },
  async () => {
    const { bytes } = await exported()
    const verifyInGo = await verifierInGo()
    const changedAt = (text: string, value: string) => {
      const changed = Buffer.from(bytes)
      changed.write(value, bytes.indexOf(text) + 1)
      return changed
    }

    expect(verifyInGo(bytes, 'export')).toBe('verified')
    expect(verifyInGo(changedAt('ApplicationStarted', 'Q'), 'export')).toMatch(/^line \d+: /)
    expect(verifyInGo(changedAt('exported_at":"2', '!'), 'export')).not.toBe('verified')
    expect(verifyInGo(changedAt('occurred_at":"', '!'), 'export')).not.toBe('verified')
    expect(verifyInGo(changedAt('"checkpoint":"service', 'X'), 'export')).not.toBe('verified')
  },
)
