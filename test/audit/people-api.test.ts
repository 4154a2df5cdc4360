import { randomUUID } from 'node:crypto'
import { inflateSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { policyEvents, PolicyNumber } from '#domain/policies/events.ts'
import { memberOf, type Member } from '../users/team.ts'
import { wholeService } from '../whole-service.ts'
import { sampleEvent } from '../stored-events/samples.ts'
import { firm } from './firm.ts'
import { pastOf } from './past.ts'

type Event = {
  readonly record: { readonly type: string; readonly id: string }
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
  readonly personal: string
}
type Page = {
  readonly data: readonly Event[]
  readonly records: readonly { readonly record: Event['record']; readonly state: unknown }[]
  readonly next_cursor: string | null
}
type Found = readonly { readonly person_id: string; readonly first_name: string }[]

let service: Awaited<ReturnType<typeof wholeService>>
let own: string
let others: string
let auditor: Member
let stranger: Member
let blind: Member
beforeAll(async () => {
  service = await wholeService()
  await service.setUp(firm('held'))
  await service.setUp(firm('strangers'))
  const { body } = await service.send<{ id: string; slug: string }[]>('GET', '/admin/v1/organisations')
  const idOf = (slug: string) => body.data.find((each) => each.slug === slug)?.id ?? ''
  own = idOf('held')
  others = idOf('strangers')
  auditor = await memberOf(service, own, ['auditor'], { sees_personal_data: true })
  stranger = await memberOf(service, others, ['auditor'], { sees_personal_data: true })
  blind = await memberOf(service, own, ['auditor'], { name: 'Who sees no personal data', sees_personal_data: false })
}, 120_000)
afterAll(() => service[Symbol.asyncDispose]())

const of = (organisation: string) => `/audit/v1/organisations/${organisation}/people`

const search = (body: object, { key } = auditor, organisation = own, request_id: string = randomUUID()) =>
  service.send<Found>('POST', `${of(organisation)}/search`, {
    token: key,
    body,
    headers: { 'x-request-id': request_id },
  })

/** Somebody who has begun to buy. */
const somebody = async (first_name: string, dob = '1990-05-01') => {
  const { token } = await service.client(own, ['read', 'write'])
  const call = async (method: string, path: string, body: object) => {
    const answer = await service.send<{ id: string }>(method, `/api/v1${path}`, { token, body })
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`)
    return answer.body.data
  }
  const { id } = await call('POST', '/applications', { product_slug: 'simple-life', journey_slug: 'standard' })
  const email = `${first_name.toLowerCase()}.${id.slice(0, 8)}@example.com`
  const customer = { first_name, last_name: 'Okafor', email, dob, phone_number: '+442071838750' }
  await call('PATCH', `/applications/${id}/customer`, { customer })
  await call('PATCH', `/applications/${id}`, { cover_amount_pence: 10_000_000, term_years: 20 })
  const person_id = await vi.waitUntil(async () => (await search({ email })).body.data[0]?.person_id, {
    timeout: 20_000,
    interval: 50,
  })
  return { id, email, person_id }
}

const exported = async (person_id: string, query = '', { key } = auditor, organisation = own, request_id?: string) => {
  const { status, body } = await service.send('GET', `${of(organisation)}/${person_id}/export${query}`, {
    token: key,
    headers: { 'x-request-id': request_id ?? randomUUID() },
  })
  return { status, page: body as unknown as Page }
}

const accessTo = async (request_id: string) => {
  const { body } = await service.send<Record<string, unknown>[]>(
    'GET',
    `/audit/v1/organisations/${own}/accesses?actor_id=${auditor.id}`,
    { token: auditor.key },
  )
  return body.data.find((access) => access['request_id'] === request_id)
}

test('question 16: all that is held on this person, and nothing of another', async () => {
  const [ada, ben] = [await somebody('Ada'), await somebody('Ben', '1985-02-03')]
  const request_id = randomUUID()
  await vi.waitFor(async () => expect((await exported(ada.person_id)).page.data).toHaveLength(6), {
    timeout: 20_000,
    interval: 50,
  })

  const { status, page } = await exported(ada.person_id, '', auditor, own, request_id)

  expect(status).toBe(200)
  expect(page.data.map(({ record, type, personal }) => [record.type, record.id, type, personal])).toEqual([
    ['application', ada.id, 'ApplicationStarted', 'opened'],
    ['application', ada.id, 'CustomerSaved', 'opened'],
    ['application', ada.id, 'CoverSaved', 'none'],
    ['customer', ada.person_id, 'CustomerCreated', 'opened'],
    ['identity', expect.any(String), 'IdentityClaimed', 'none'],
    ['lead', ada.person_id, 'LeadActivityRecorded', 'opened'],
  ])
  expect(page.records.map(({ record }) => record.type)).toEqual(['application', 'customer', 'identity', 'lead'])
  expect(page.records[1]?.state).toMatchObject({ first_name: 'Ada', last_name: 'Okafor', email: ada.email })
  expect(page.next_cursor).toBeNull()
  expect(JSON.stringify(page)).not.toMatch(new RegExp(`Ben|${ben.id}|${ben.person_id}|1985-02-03`))
  expect(await accessTo(request_id)).toMatchObject({
    route: '/audit/v1/organisations/:organisation_id/people/:person_id/export',
    rows: page.data.length,
    record_ids: expect.arrayContaining([ada.person_id, ada.id]) as unknown,
  })

  expect((await exported(ada.person_id, '', stranger, others)).status).toBe(404)
  expect((await exported(ada.person_id, '', stranger)).status).toBe(404)
  expect((await exported(ada.person_id, '', blind)).status).toBe(403)
})

test('of a lead that has their email address and may be another’s, it is told that there is one, and not what it says', async () => {
  const fay = await somebody('Fay')
  const { token } = await service.client(own, ['read', 'write', 'crm'])
  const send = async (identity: object, status: string) => {
    const body = { source: 'website', source_reference: randomUUID(), identity }
    const sent = await service.send<{ id: string }>('POST', '/api/v1/crm/ingests', { token, body })
    const address = `/api/v1/crm/ingests/${sent.body.data.id}`
    const shown = async () => (await service.send<{ status: string }>('GET', address, { token })).body.data.status
    await vi.waitFor(async () => expect(await shown()).toBe(status), { timeout: 20_000, interval: 50 })
    return sent.body.data.id
  }
  await send({ email: 'gus@example.com', external_id: 'CRM-1' }, 'applied')
  const found = async () => (await search({ external_id: 'CRM-1' })).body.data
  await vi.waitFor(async () => expect(await found()).toMatchObject([{ email: 'gus@example.com' }]), { timeout: 20_000 })
  const lead = await send(
    { email: fay.email, external_id: 'CRM-1', first_name: 'Zebedee', dob: '1971-01-01' },
    'needs_review',
  )

  const { page } = await exported(fay.person_id)

  const told = page.data.filter(({ record }) => record.id === lead)
  expect(new Set(told.map(({ personal }) => personal))).toEqual(new Set(['of_another', 'none']))
  expect(JSON.stringify(page)).not.toMatch(/Zebedee|1971-01-01/)
})

test('in parts, each event once, and each record with its last', async () => {
  const { person_id } = await somebody('Cleo')
  const whole = await vi.waitUntil(
    async () => {
      const { page } = await exported(person_id)
      return page.data.length === 6 && page
    },
    { timeout: 20_000, interval: 50 },
  )
  const parts: Page[] = []
  for (let cursor: string | null = ''; cursor !== null; cursor = parts.at(-1)?.next_cursor ?? null)
    parts.push((await exported(person_id, `?limit=2${cursor && `&cursor=${cursor}`}`)).page)

  expect(parts.map(({ data }) => data.length)).toEqual([2, 2, 2])
  expect(parts.flatMap(({ data }) => data)).toEqual(whole.data)
  expect(parts.flatMap(({ records }) => records)).toEqual(whole.records)
})

/** The lines of a PDF, as each of its fonts would read them: which one of them a line is in says its page. */
const printedIn = (pdf: Buffer): readonly string[] => {
  const streams = [...pdf.toString('latin1').matchAll(/\/FlateDecode\n>>\nstream\n([^]*?)\nendstream/g)].map(
    ([, packed = '']) => inflateSync(Buffer.from(packed, 'latin1')).toString('latin1'),
  )
  const hexIn = (text: string) => [...text.matchAll(/<([0-9a-f ]*)>/g)].map(([, hex = '']) => hex)
  const textOf = (hex: string) =>
    (hex.match(/.{4}/g) ?? []).map((unit) => String.fromCharCode(parseInt(unit, 16))).join('')
  const fonts = streams
    .filter((each) => each.includes('beginbfrange'))
    .map((each) => [...each.matchAll(/\[([^\]]*)\]/g)].flatMap(([, range = '']) => hexIn(range).map(textOf)))
  const lines = streams
    .filter((each) => each.includes(' TJ'))
    .flatMap((each) => [...each.matchAll(/\[(.*)\] TJ/g)])
    .map(([, line = '']) => hexIn(line).flatMap((run) => run.match(/.{4}/g) ?? []))
  return fonts.flatMap((font) => lines.map((line) => line.map((glyph) => font[parseInt(glyph, 16)] ?? '').join('')))
}

test('as a PDF, which is recorded with as many rows', async () => {
  const { person_id } = await somebody('Dora')
  const request_id = randomUUID()
  const answer = await fetch(`${service.origin}${of(own)}/${person_id}/export/pdf`, {
    headers: { authorization: `Bearer ${auditor.key}`, 'x-request-id': request_id },
  })

  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/pdf'])
  const pdf = Buffer.from(await answer.arrayBuffer())
  expect(pdf.subarray(0, 5).toString()).toBe('%PDF-')
  const printed = printedIn(pdf).join('\n')
  for (const told of ['Dora', 'Okafor', '1990-05-01']) expect(printed).toContain(told)
  expect(await accessTo(request_id)).toMatchObject({ rows: expect.any(Number) as unknown })
  expect((await accessTo(request_id))?.['rows']).toBeGreaterThanOrEqual(2)
})

test('a person is found by email, name with birth date, and telephone number; that it was used is recorded, and not for whom', async () => {
  const { email, person_id } = await somebody('Esi', '1977-07-07')
  const request_id = randomUUID()
  const idsBy = async (body: object) => (await search(body)).body.data.map((found) => found.person_id)

  expect(await idsBy({ email: email.toUpperCase() })).toEqual([person_id])
  expect(await idsBy({ first_name: 'ESI', last_name: 'Okafor', dob: '1977-07-07' })).toEqual([person_id])
  expect(await idsBy({ first_name: 'Esi', last_name: 'Okafor', dob: '1977-07-08' })).toEqual([])
  expect(await idsBy({ phone_number: '+442071838750' })).toContain(person_id)
  const policy_id = randomUUID()
  const policy_number = PolicyNumber.parse('FAM-999999979')
  const bound = { ...sampleEvent(policyEvents, 'PolicyBound', 2), policy_id, policy_number }
  await pastOf(service, own)(`policy-${policy_id}`, policyEvents, [
    [
      '2026-02-01T09:00:00.000Z',
      {
        ...bound,
        organisation_id: own,
        customer_id: person_id,
        customer: { ...bound.customer, id: person_id },
      },
    ],
  ])
  await vi.waitFor(async () => expect(await idsBy({ policy_number })).toEqual([person_id]), { timeout: 20_000 })
  expect(await idsBy({ policy_number: 'POL-000000000' })).toEqual([])
  expect(await idsBy({ external_id: 'nobody’s' })).toEqual([])

  expect((await search({ email }, auditor, own, request_id)).body.data).toMatchObject([{ first_name: 'Esi' }])
  const access = await accessTo(request_id)
  expect(access).toMatchObject({ method: 'POST', rows: 1, filters: ['email'], record_ids: [person_id] })
  expect(JSON.stringify(access)).not.toMatch(/esi|example\.com/i)

  expect((await search({ email }, stranger, others)).body.data).toEqual([])
  expect((await search({ email }, blind)).status).toBe(403)
})

test.each([[{}], [{ email: 'a@example.com', policy_number: 'POL-1' }], [{ first_name: 'Ada' }]])(
  '422: %j does not say whom to look for',
  async (body) => {
    const { status, body: answer } = await search(body)

    expect([status, answer.error?.code]).toEqual([422, 'validation_failed'])
    expect(Object.keys(answer.error?.fields ?? {}).length).toBeGreaterThan(0)
  },
)
