import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { parse } from 'csv-parse/sync'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { OrganisationId } from '#domain/values.ts'
import { daysOf, periodOf, readAsked } from '../../cli/applications/read-asked.ts'
import { repriceBook } from '../../cli/applications/reprice-book.ts'
import { readDraft, readOrganisation } from '../../cli/catalogue/read-draft.ts'
import { readSetupFile } from '../../cli/setup-plan/plan-text.ts'
import { subjectOfPerson } from '#infra/crypto/subjects.ts'
import { firm } from '../audit/firm.ts'
import { memberOf } from '../users/team.ts'
import { wholeService } from '../whole-service.ts'

/** The quotes of a firm's period, priced with a draft that nobody has published. */

vi.setConfig({ testTimeout: 60_000 })

const tenfold = (slug: string) =>
  firm(slug)
    .replace('{ level: 1 }', '{ level: 2 }')
    .replace(
      '{ key: level, version: 1, csv: "term,rate_e4\\n10,12000\\n20,14000\\n" }',
      '{ key: level, version: 2, csv: "term,rate_e4\\n10,120000\\n20,140000\\n" }',
    )
const daySeconds = 86_400
const masterKey = Buffer.alloc(32, 5).toString('base64')

type Service = Awaited<ReturnType<typeof wholeService>>
type Quoted = {
  readonly id: string
  readonly application_id: string
  readonly premium_pence: number
  readonly customer_id: string
}

let service: Service
let organisation_id: OrganisationId
let folder: string
let early: Quoted
let quoted: readonly Quoted[]
let strange: Quoted

const organisationOf = async (slug: string) => {
  const { body } = await service.send<readonly { id: string; slug: string }[]>('GET', '/admin/v1/organisations')
  return OrganisationId.parse(body.data.find((each) => each.slug === slug)?.id)
}

const quote = async (token: string, term_years: number, age: number): Promise<Quoted> => {
  const start = { product_slug: 'simple-life', journey_slug: 'standard' }
  const customer = {
    first_name: 'Ann',
    last_name: 'Ash',
    email: `${randomUUID()}@example.org`,
    dob: `${2026 - age}-01-01`,
  }
  const started = await service.send<{ id: string; customer: { id: string } }>('POST', '/api/v1/applications', {
    token,
    body: { ...start, customer },
  })
  const address = `/api/v1/applications/${started.body.data.id}`
  await service.send('PATCH', address, { token, body: { cover_amount_pence: 10_000_000, term_years } })
  const { body, status } = await service.send<Omit<Quoted, 'customer_id'>>('POST', `${address}/quotes`, {
    token,
    body: {},
  })
  if (status >= 300) throw new Error(JSON.stringify(body))
  return { ...body.data, customer_id: started.body.data.customer.id }
}

const reprice = async (options: Record<string, string>) => {
  const { parts } = service
  const asked = readAsked({ organisation: organisation_id, product: 'simple-life', release: 'draft', ...options })
  if (typeof asked === 'string') return expect.fail(asked)
  const organisation = await readOrganisation(parts.eventLog, asked.organisation)
  const from =
    asked.release === 'draft' ? asked.release : { ...(await readSetupFile(asked.release)), file: asked.release }
  const draft = await readDraft(parts.eventLog, { organisation, slug: asked.product, from })
  const days = daysOf(asked, organisation.time_zone, parts.clock.now().toISOString())
  const book = {
    organisation_id: asked.organisation,
    product_id: draft.release.product_id,
    ...periodOf(days, organisation.time_zone),
  }
  const output = new PassThrough()
  const printed = text(output)
  const progress = new PassThrough().resume()
  const asker = { actor_type: 'operator', actor_id: 'npm run reprice' } as const
  const totals = await repriceBook(
    { book, draft, asker, csv: asked.csv, filters: [], title: 'The title\n' },
    { ...parts, output, progress },
  ).finally(() => output.end())
  const [title = '', ...lines] = (await printed).split('\n')
  return { totals, title, printed: lines.join('\n') }
}

beforeAll(async () => {
  service = await wholeService()
  await service.setUp(firm('acme'))
  await service.setUp(firm('others'))
  organisation_id = await organisationOf('acme')
  folder = await mkdtemp(join(tmpdir(), 'reprice-'))
  const token = (await service.client(organisation_id, ['read', 'write'])).token
  const strangers = (await service.client(await organisationOf('others'), ['read', 'write'])).token
  await vi.waitUntil(
    async () => (await service.send('GET', '/api/v1/products/simple-life', { token: strangers })).status === 200,
    { timeout: 60_000, interval: 50 },
  )
  early = await quote(token, 10, 40)
  await service.send('POST', '/admin/v1/clock', { body: { forward_seconds: 40 * daySeconds } })
  const again = (await service.client(organisation_id, ['read', 'write'])).token
  quoted = [await quote(again, 10, 30), await quote(again, 20, 40), await quote(again, 20, 50)]
  strange = await quote((await service.client(await organisationOf('others'), ['read', 'write'])).token, 10, 30)
  await service.setUp(tenfold('acme').replace('lifecycle_state: production', 'publish: false'))
}, 120_000)
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

describe('given a draft with all rates times ten', () => {
  test('each quote of the last 30 days costs exactly ten times as much, and no other is named', async () => {
    const { totals, title, printed } = await reprice({})

    expect(title).toBe('The title')
    const lines = printed.split('\n')
    expect(lines.slice(0, 3).map((line) => line.split(' ')[0])).toEqual(quoted.map(({ id }) => id))
    expect(printed).toContain(`${quoted[0]?.id} £1.20 → £12.00 (+£10.80, +900.00 %)`)
    expect(printed).not.toContain(early.id)
    expect(printed).not.toContain(strange.id)
    const before = quoted.reduce((sum, { premium_pence }) => sum + premium_pence, 0)
    expect(totals).toMatchObject({ quotes: 3, up: 3, unchanged: 0, pence_before: before, pence_after: 10 * before })
    expect(lines.slice(3)).toEqual([
      '3 quotes: 0 unchanged, 3 up, 0 down',
      'mean of the 3 priced: £1.33 → £13.33 (+£12.00, +902.26 %)',
      `largest rise: ${quoted[1]?.id} £1.40 → £14.00 (+£12.60, +900.00 %)`,
      '',
    ])
  })

  test('a quote of an earlier period is priced when that is asked for', async () => {
    const { totals, printed } = await reprice({ from: '2020-01-01' })

    expect(totals.quotes).toBe(4)
    expect(printed.split('\n')[0]).toMatch(new RegExp(`^${early.id} £1.20 → £12.00`))
  })

  test('a file names the differences, and is not written over', async () => {
    const csv = join(folder, 'differences.csv')

    const { printed } = await reprice({ csv })

    const rows = parse<Readonly<Record<string, string>>>(await readFile(csv, 'utf8'), { columns: true })
    expect(rows).toMatchObject(
      quoted.map(({ id, application_id, premium_pence }) => ({
        quote_id: id,
        application_id,
        outcome: 'priced',
        before_pence: String(premium_pence),
        after_pence: String(10 * premium_pence),
        difference_pence: String(9 * premium_pence),
        difference_percent: '900.00',
      })),
    )
    expect(printed).toMatch(/^3 quotes: /)
    await expect(reprice({ csv })).rejects.toThrow(
      /differences\.csv is there already, and is not written over\. Name another file\.$/,
    )
    expect(await readFile(csv, 'utf8')).toContain(quoted[0]?.id)
  })

  test('it is recorded who was shown which quotes, and nothing is written to the log', async () => {
    const { pool, storedLog } = service.parts
    const end = await storedLog.head()
    await pool.query('truncate access_record, access_subject')

    await reprice({})

    const { rows } = await pool.query('select actor_id, route, record_type, rows_shown, record_ids from access_record')
    expect(rows).toEqual([
      {
        actor_id: 'npm run reprice',
        route: 'npm run reprice',
        record_type: 'quote',
        rows_shown: 3,
        record_ids: quoted.flatMap(({ id, application_id }) => [id, application_id]),
      },
    ])
    expect(await storedLog.head()).toBe(end)
  })
})

describe('given a set-up file that was not applied', () => {
  const priced = async (file: string) => {
    const name = join(folder, `${randomUUID()}.yaml`)
    await writeFile(name, file)
    return reprice({ release: name })
  }

  test('the rates of the file price', async () => {
    const halved = tenfold('acme').replace('20,140000', '20,7000').replace('{ level: 2 }', '{ level: 3 }')
    const { totals } = await priced(halved.replace('version: 2', 'version: 3').replace('10,120000', '10,12000'))

    expect(totals).toMatchObject({ quotes: 3, unchanged: 1, down: 2 })
  })

  test('whoever it would decline, refer or not cover any more is named', async () => {
    const stricter = firm('acme').replace(
      '        covers:',
      `        underwriting:
          derived: [{ key: age, kind: age }]
          refer_above_percent: 100
          decline_above_percent: 200
          rules:
            - { code: old, label: Old, when: { key: age, min: 50 }, decision: decline }
            - { code: young, label: Young, when: { key: age, max: 39 }, extra_percent: 50 }
        covers:`,
    )

    const { totals, printed } = await priced(stricter.replace('term_years_min: 10', 'term_years_min: 11'))

    expect(totals).toMatchObject({ quotes: 3, unchanged: 1, declined: 1, without_price: 1 })
    expect(printed).toContain(`${quoted[2]?.id} £1.40 → declined`)
    expect(printed).toContain(`${quoted[0]?.id} £1.20 → no price: no_quotable_cover`)
    expect((await priced(stricter)).printed).toContain(
      `${quoted[0]?.id} £1.20 → £1.80 (+£0.60, +50.00 %), standard → loaded`,
    )
  })

  test('what is wrong with it is told, with its line', async () => {
    await expect(priced(firm('acme').replace('product_type: term', 'product_type: car'))).rejects.toThrow(
      /\.yaml:7: organisations\[0\]\.products\[0\]\.product_type: /,
    )
    await expect(priced(firm('others'))).rejects.toThrow(/declares no organisation with the slug acme/)
    await expect(reprice({ product: 'other' })).rejects.toThrow(/acme has no product with the slug other/)
  })
})

describe('as a command', () => {
  const program = join(import.meta.dirname, '../../cli/reprice.ts')
  const command = (...words: readonly string[]) =>
    new Promise<{ readonly code: unknown; readonly printed: string; readonly said: string }>((resolve) => {
      const asked = ['--organisation', organisation_id, '--product', 'simple-life', '--release', 'draft', ...words]
      const { database, baseUrl } = service
      const env = { ...process.env, DATABASE_URL: database.url, MASTER_KEY: masterKey, BASE_URL: baseUrl }
      execFile(process.execPath, [program, ...asked], { env, timeout: 60_000 }, (error, printed, said) =>
        resolve({ code: error?.code ?? 0, printed, said }),
      )
    })

  test('it is recorded for the user whose key is given', async () => {
    const underwriter = await memberOf(service, organisation_id, ['underwriting'], { sees_personal_data: true })
    await service.parts.pool.query('truncate access_record, access_subject')

    const { code, printed } = await command('--from', '2020-01-01', '--key', underwriter.key)

    expect(code).toBe(0)
    expect(printed).toMatch(
      /^simple-life of acme, with its draft: quotes from 2020-01-01 to \d{4}-\d\d-\d\d \(Europe\/London\)\n/,
    )
    expect(printed).toContain(`${early.id} £1.20 → £12.00`)
    const { rows } = await service.parts.pool.query('select actor_type, actor_id, filters from access_record')
    expect(rows).toEqual([{ actor_type: 'user', actor_id: underwriter.id, filters: ['from'] }])
  })

  test('a key that is none, or of another role, is refused, and so is a file that is there', async () => {
    const desk = await memberOf(service, organisation_id, ['leads'], { sees_personal_data: true })
    const there = join(folder, 'there.csv')
    await writeFile(there, 'kept')

    const [none, other, again] = await Promise.all([
      command('--key', 'nobody'),
      command('--key', desk.key),
      command('--csv', there),
    ])

    expect([none.code, other.code, again.code]).toEqual([2, 2, 2])
    expect(none.said).toBe('The key of --key is not one of this installation, or has ended.\n')
    expect(other.said).toContain('without the role owner or underwriting or auditor')
    expect(again.said).toContain('there.csv is there already, and is not written over.')
    expect(await readFile(there, 'utf8')).toBe('kept')
  })
})

test('a quote that cannot be read is named, and all others are priced', async () => {
  const broken = quoted[0]
  if (!broken) throw new Error('Nobody was quoted.')
  const { eventLog } = service.parts
  const original = eventLog.read
  const read = vi.spyOn(eventLog, 'read').mockImplementation(async (stream, ...given) => {
    const events = await original(stream, ...given)
    return stream === `application-${broken.application_id}`
      ? events.map((event) => ({ ...event, schema_version: 99 }))
      : events
  })

  const { totals, printed } = await reprice({}).finally(() => read.mockRestore())

  expect(totals).toMatchObject({ quotes: 3, up: 2, unreadable: 1 })
  expect(printed).toMatch(new RegExp(`${broken.id} £1\\.20 → cannot be read: This version knows \\S+ up to version`))
  expect(printed).toContain('1 not priced, because they cannot be read')
})

test('a person who was erased is counted, and named as not priced', async () => {
  const erased = quoted[1]
  if (!erased) throw new Error('Nobody was quoted.')
  await service.parts.dataKeys.erase({ organisation_id, subject: subjectOfPerson(erased.customer_id) })

  const { totals, printed } = await reprice({})

  expect(totals).toMatchObject({ quotes: 3, up: 2, erased: 1 })
  expect(printed).toContain(`${erased.id} £1.40 → not priced: erased`)
  expect(printed).toContain('1 not priced, because somebody of them was erased')
})

test.each([
  [
    { organisation: 'acme' },
    '--organisation must be the id of the organisation, as GET /admin/v1/organisations shows it.',
  ],
  [{ from: '1 July' }, '--from must be a date such as 2026-07-01.'],
  [{ from: '2026-07-02', until: '2026-07-01' }, '--from must not be after --until.'],
])('%j is not understood', (options, reason) => {
  const given = { organisation: randomUUID(), product: 'term', release: 'draft' }
  expect(readAsked({ ...given, ...options })).toBe(reason)
})
