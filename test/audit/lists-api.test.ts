import { randomUUID } from 'node:crypto'
import { parse } from 'csv-parse/sync'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { applicationEvents } from '#domain/applications/events.ts'
import { applicationStreamEvents } from '#domain/applications/record.ts'
import { claimEvents } from '#domain/claims/events.ts'
import { complaintEvents } from '#domain/complaints/events.ts'
import { customerEvents } from '#domain/customers/events.ts'
import { leadEvents } from '#domain/leads/events.ts'
import { policyEvents } from '#domain/policies/events.ts'
import { policyStreamEvents } from '#domain/policies/record.ts'
import { premiumEvents } from '#domain/premiums/events.ts'
import { quoteEvents } from '#domain/quotes/events.ts'
import { derivedId } from '#infra/ids.ts'
import { memberOf } from '../users/team.ts'
import { sampleEvent } from '../stored-events/samples.ts'
import { wholeService } from '../whole-service.ts'
import { untilFound } from '../../query-api/audit/as-of/until-found.ts'
import { pastOf, type Happening } from './past.ts'

type Row = Readonly<Record<string, unknown>>
type List = {
  readonly data: readonly Row[]
  readonly total: number | null
  readonly is_cut: boolean
  readonly known_at: string | null
  readonly position: string | null
  readonly next_cursor: string | null
}
type Balance = { readonly data: readonly { readonly accounts: unknown }[]; readonly balanced: boolean }
type Query = Readonly<Record<string, string>>

let service: Awaited<ReturnType<typeof wholeService>>
let stranger_id: string
let strangers: string
beforeAll(async () => {
  service = await wholeService()
  stranger_id = await service.organisation('strangers')
  strangers = (await memberOf(service, stranger_id, ['auditor'], { sees_personal_data: true })).key
}, 120_000)
afterAll(() => service[Symbol.asyncDispose]())

/** A firm with a history of its own, and its auditor. */
const firmOf = async (organisation_id: string) => {
  const { key } = await memberOf(service, organisation_id, ['auditor'], { sees_personal_data: true })
  const addressOf = (name: string, query: Query, of = organisation_id) =>
    `/audit/v1/organisations/${of}/lists/${name}?${new URLSearchParams(query).toString()}`
  const send = async (name: string, query: Query = {}) => service.send('GET', addressOf(name, query), { token: key })
  return {
    organisation_id,
    happened: pastOf(service, organisation_id),
    ask: async <Shown = List>(name: string, query: Query = {}): Promise<Shown> => {
      const { status, body } = await send(name, query)
      expect({ status, body }).toMatchObject({ status: 200 })
      return body as unknown as Shown // as the answer is
    },
    refused: async (name: string, query: Query = {}) => {
      const { status, body } = await send(name, query)
      return [status, Object.keys(body.error?.fields ?? {})]
    },
    csvOf: async (name: string, query: Query = {}) => {
      const headers = { authorization: `Bearer ${key}`, accept: 'text/csv' }
      const response = await fetch(`${service.origin}${addressOf(name, query)}`, { headers })
      const rows = parse<Readonly<Record<string, string>>>(await response.text(), { columns: true })
      return { rows, total: response.headers.get('x-total') }
    },
    /** Another firm's auditor is shown nothing, neither here nor at home. */
    expectNothingForStrangers: async (name: string, query: Query = {}) => {
      expect((await service.send('GET', addressOf(name, query), { token: strangers })).status).toBe(404)
      const own = await service.send('GET', addressOf(name, query, stranger_id), { token: strangers })
      expect([own.status, own.body]).toMatchObject([200, { data: [], total: 0 }])
    },
  }
}
type Firm = Awaited<ReturnType<typeof firmOf>>

describe('question 19: policies in force on 31 March, as known on 2 April', () => {
  const on = '2026-03-31'
  let firm: Firm
  const policy = async (start_date: string, later: readonly (readonly [string, Happening])[] = []) => {
    const policy_id = randomUUID()
    const bound = {
      ...sampleEvent(policyEvents, 'PolicyBound', 2),
      policy_id,
      organisation_id: firm.organisation_id,
      customer_id: randomUUID(),
      start_date,
      end_date: '2051-03-01',
    }
    const recorded = await firm.happened(`policy-${policy_id}`, policyEvents, [
      ['2026-02-01T09:00:00.000Z', bound],
      ...later,
    ])
    return { policy_id, customer_id: bound.customer_id, ...recorded }
  }
  const activated = (start_date: string) =>
    [`${start_date}T00:00:00.000Z`, { type: 'PolicyActivated', start_date }] as const
  const lapsed = { ...sampleEvent(policyEvents, 'PolicyLapsed'), lapsed_on: '2026-03-20' } as const
  const cancelled = (effective_on: string) =>
    ({ ...sampleEvent(policyEvents, 'PolicyCancelled'), effective_on }) as const

  let inForce: readonly Awaited<ReturnType<typeof policy>>[]
  let asked: Query
  let afterwards: Query
  beforeAll(async () => {
    firm = await firmOf(await service.organisation('in-force'))
    const plain = await policy('2026-02-02', [activated('2026-02-02')])
    await policy('2026-04-01')
    await policy('2026-02-02', [['2026-03-20T09:00:00.000Z', lapsed]])
    const amended = await policy('2026-02-02', [
      activated('2026-02-02'),
      ['2026-04-01T09:00:00.000Z', { ...sampleEvent(policyEvents, 'PolicyAmended'), premium_pence: 9_900 }],
      ['2026-04-01T10:00:00.000Z', cancelled('2026-04-01')],
    ])
    await policy('2026-02-02', [
      ['2026-03-20T09:00:00.000Z', lapsed],
      ['2026-04-01T09:00:00.000Z', { ...sampleEvent(policyEvents, 'PolicyReinstated'), from: 'lapsed' }],
    ])
    inForce = [amended, plain]
    asked = { on, position: amended.position }
    const reinstated = await policy('2026-02-02', [activated('2026-02-02')])
    asked = { on, known_at: inForce[0]?.known_at ?? '' }
    afterwards = { on, position: reinstated.position }
    // Recorded later, of a day before.
    await firm.happened(`policy-${plain.policy_id}`, policyEvents, [
      ['2026-04-03T09:00:00.000Z', cancelled('2026-03-30')],
    ])
  })

  test('are these, and no others', async () => {
    const { data, total, is_cut } = await firm.ask('policies_in_force', asked)
    expect(data.map(({ policy_id }) => policy_id)).toEqual(inForce.map(({ policy_id }) => policy_id))
    expect({ total, is_cut }).toEqual({ total: 2, is_cut: false })
    expect(data[0]).toMatchObject({
      customer_id: inForce[0]?.customer_id,
      status: 'active',
      premium_pence: 2_875,
      start_date: '2026-02-02',
      first_name: null,
    })
    await firm.expectNothingForStrangers('policies_in_force', { on })
  })

  test('later knowledge is another answer', async () => {
    expect(await firm.ask('policies_in_force', afterwards)).toMatchObject({ total: 3 })
    const now = await firm.ask('policies_in_force', { on })
    expect(now.data.map(({ policy_id }) => policy_id)).not.toContain(inForce[1]?.policy_id)
    expect(now.total).toBe(2)
  })

  test('pages are of one moment, and have one total', async () => {
    const first = await firm.ask('policies_in_force', { ...afterwards, limit: '1' })
    const rest = await firm.ask('policies_in_force', { on, limit: '2', cursor: first.next_cursor ?? '' })
    expect([first.total, rest.total, rest.next_cursor]).toEqual([3, 3, null])
    const all = await firm.ask('policies_in_force', afterwards)
    expect([...first.data, ...rest.data]).toEqual(all.data)
    expect(rest.position).toBe(first.position)
  })

  test('as a file, with names where they are asked for', async () => {
    const { rows, total } = await firm.csvOf('policies_in_force', { ...asked, personal: 'opened' })
    expect(total).toBe('2')
    expect(rows.map(({ policy_id, first_name, test: isTest }) => [policy_id, first_name, isTest])).toEqual(
      inForce.map(({ policy_id }) => [policy_id, 'Anna', 'false']),
    )
    const { status, body } = await service.send<Row[]>(
      'GET',
      `/audit/v1/organisations/${firm.organisation_id}/accesses?person_id=${inForce[0]?.customer_id}`,
    )
    expect([status, body.data[0]]).toMatchObject([
      200,
      { route: '/audit/v1/organisations/:organisation_id/lists/policies_in_force', rows: 2, personal: 'opened' },
    ])
  })

  test('each parameter that does not fit is named', async () => {
    expect(await firm.refused('policies_in_force')).toEqual([422, ['on']])
    expect(await firm.refused('policies_in_force', { on, position: '5' })).toEqual([422, ['position']])
    expect(await firm.refused('policies_in_force', { on, position: '5', known_at: '2026-04-02T00:00:00Z' })).toEqual([
      422,
      ['position'],
    ])
    const { next_cursor } = await firm.ask('policies_in_force', { ...afterwards, limit: '1' })
    const elsewhere = { on, cursor: next_cursor ?? '', known_at: '2026-04-02T00:00:00Z' }
    expect(await firm.refused('policies_in_force', elsewhere)).toEqual([422, ['cursor']])
  })
})

describe('questions 1 and 10: what was shown and confirmed before each purchase, and which sales lacked a step', () => {
  let firm: Firm
  let complete: Sale
  let lacking: Sale
  let unsold: string
  type Sale = { readonly application_id: string; readonly quote_id: string; readonly policy_id: string }

  const file = `organisations:
  - slug: seller
    name: Seller
    stripe_test_mode: true
    products:
      - slug: children
        name: Children
        product_type: child_cover
        lifecycle_state: production
        covers:
          - cover_type: child_benefit
            pricing_basis: fixed_tiers
            age_at_entry_min: 18
            age_at_entry_max: 70
            tiers: [{ cover_amount_pence: 1000000, premium_pence: 135 }]
        journeys: [{ slug: standard, name: Standard }]
        checkout:
          demands_and_needs: { required: true, statement: 'You want {cover_amount} for your children.' }
          key_documents:
            - { kind: policy_terms, name: Policy terms, url: 'https://seller.example/terms.pdf', version: '1' }
`
  beforeAll(async () => {
    await service.setUp(file)
    firm = await firmOf(derivedId('organisation', 'seller'))
    const { token } = await service.client(firm.organisation_id, ['read', 'write'])
    const call = async <Data = { id: string }>(method: string, path: string, body: object = {}): Promise<Data> => {
      const answer = await service.send<Data>(method, `/api/v1/${path}`, { token, body })
      if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`)
      return answer.body.data
    }
    const quoted = async () => {
      const customer = {
        first_name: 'Anna',
        last_name: 'Ash',
        dob: '1990-03-10',
        address_line1: '1 High Street',
        postal_code: 'SW1A 1AA',
        email: `${randomUUID()}@example.org`,
      }
      const start = { product_slug: 'children', journey_slug: 'standard', customer }
      const { id } = await call('POST', 'applications', start)
      await call('PATCH', `applications/${id}`, { cover_amount_pence: 1_000_000 })
      return { application_id: id, quote_id: (await call('POST', `applications/${id}/quotes`)).id }
    }
    const direct_debit = { account_holder_name: 'Anna Ash', sort_code: '08-99-99', account_number: '66374958' }
    const first = await quoted()
    await call('POST', `quotes/${first.quote_id}/confirm`)
    await call('POST', `quotes/${first.quote_id}/direct_debit_details`, { direct_debit })
    complete = { ...first, policy_id: (await call('POST', `quotes/${first.quote_id}/bind`)).id }
    // The service refuses such a sale today: it is as another program, or a version with a fault, could have recorded it.
    const second = await quoted()
    lacking = { ...second, policy_id: randomUUID() }
    const bought = { ...sampleEvent(quoteEvents, 'QuoteBought'), ...lacking }
    await firm.happened(`application-${second.application_id}`, quoteEvents, [['2026-02-01T09:00:00.000Z', bought]])
    unsold = (await quoted()).quote_id
  }, 60_000)

  test('question 1', async () => {
    const { data, total } = await firm.ask('sales')
    expect(data.map(({ quote_id }) => quote_id)).toEqual([lacking.quote_id, complete.quote_id])
    expect(data.map(({ quote_id }) => quote_id)).not.toContain(unsold)
    expect(total).toBe(2)
    const [, sale] = data
    expect(sale).toMatchObject({ ...complete, lacking: [] })
    expect(sale?.['steps']).toMatchObject([
      {
        step: 'demands_and_needs',
        statement: 'You want £10,000 for your children.',
        is_confirmed: true,
        confirmed_at: expect.any(String) as unknown,
        confirmed_by: { type: 'api' },
      },
      {
        step: 'key_documents_before_bind',
        is_confirmed: true,
        documents: [{ version_id: expect.any(String) as unknown }],
      },
    ])
    await firm.expectNothingForStrangers('sales')
  })

  test('question 10', async () => {
    const { data, total } = await firm.ask('sales', { lacking: 'true' })
    expect(data).toMatchObject([{ ...lacking, lacking: ['demands_and_needs', 'key_documents_before_bind'] }])
    expect(total).toBe(1)
    expect((await firm.ask('sales', { lacking: 'false' })).data).toMatchObject([complete])
    expect((await firm.ask('sales', { until: '2026-01-31' })).total).toBe(0)
    expect((await firm.ask('sales', { known_at: '2020-01-01T00:00:00Z' })).data).toEqual([])
    const { rows } = await firm.csvOf('sales', { lacking: 'true' })
    expect(rows.map(({ quote_id, step, is_confirmed }) => [quote_id, step, is_confirmed])).toEqual([
      [lacking.quote_id, 'demands_and_needs', 'false'],
      [lacking.quote_id, 'key_documents_before_bind', 'false'],
    ])
  })
})

describe('questions 3 and 9: by which consent, and under which screening, each call was made', () => {
  let firm: Firm
  const [screened, expired, renumbered] = [randomUUID(), randomUUID(), randomUUID()]
  const call = (happened_at: string, changes: object = {}) =>
    [
      happened_at,
      {
        ...sampleEvent(leadEvents, 'LeadActivityRecorded'),
        activity_id: randomUUID(),
        kind: 'call',
        channel: 'phone',
        direction: 'outbound',
        happened_at,
        ...changes,
      },
    ] as const
  const contacted = async (contact_id: string, calls: readonly (readonly [string, Happening])[]) => {
    const { organisation_id } = firm
    await firm.happened(`customer-${contact_id}`, customerEvents, [
      [
        '2026-01-01T09:00:00.000Z',
        { ...sampleEvent(customerEvents, 'CustomerSentIn'), customer_id: contact_id, organisation_id },
      ],
    ])
    const created = { ...sampleEvent(leadEvents, 'LeadCreated'), organisation_id, contact_id, seen_by: [] }
    await firm.happened(`lead-${contact_id}`, leadEvents, [['2026-01-01T09:01:00.000Z', created], ...calls])
  }
  const screening = (screened_at: string, expires_at: string, phone_number = '+447700900123') =>
    [
      screened_at,
      { ...sampleEvent(leadEvents, 'LeadTpsScreened'), status: 'clear', phone_number, screened_at, expires_at },
    ] as const
  const consent = (said_at: string, state: string) =>
    [
      said_at,
      {
        ...sampleEvent(customerEvents, 'CustomerConsentRecorded'),
        entries: [{ purpose: 'first_party_marketing', channel: 'phone', state, basis: 'consent' }],
        said_at,
      },
    ] as const

  beforeAll(async () => {
    firm = await firmOf(await service.organisation('callers'))
    await contacted(screened, [
      screening('2026-03-01T09:00:00.000Z', '2026-03-29T09:00:00.000Z'),
      call('2026-03-10T12:00:00.000Z'),
      call('2026-03-11T12:00:00.000Z', { direction: 'inbound' }),
      call('2026-03-12T12:00:00.000Z', { kind: 'email', channel: 'email' }),
      screening('2026-03-20T09:00:00.000Z', '2026-04-17T09:00:00.000Z'),
    ])
    await firm.happened(`customer-${screened}`, customerEvents, [
      consent('2026-03-05T10:00:00.000Z', 'granted'),
      consent('2026-03-15T10:00:00.000Z', 'withdrawn'),
    ])
    await contacted(expired, [
      screening('2026-03-01T09:00:00.000Z', '2026-03-29T09:00:00.000Z'),
      call('2026-04-02T12:00:00.000Z'),
    ])
    await contacted(renumbered, [
      screening('2026-03-01T09:00:00.000Z', '2026-03-29T09:00:00.000Z', '+447700900999'),
      call('2026-03-10T12:00:00.000Z', { kind: 'sms', channel: 'sms' }),
    ])
  })

  test('question 9: the screening is that of the moment of the call', async () => {
    const { data, total } = await firm.ask('contacts')
    const shown = data.map(
      ({ contact_id, kind, screening: found, tps_status, screening_age_days, allowed, reason }) => [
        contact_id,
        kind,
        found,
        tps_status,
        screening_age_days,
        allowed,
        reason,
      ],
    )
    expect(shown).toEqual([
      [renumbered, 'sms', 'of_another_number', null, null, false, 'no_consent'],
      [expired, 'call', 'expired', 'clear', 32, false, 'not_screened'],
      [screened, 'call', 'valid', 'clear', 9, true, 'granted'],
    ])
    expect(total).toBe(3)
    const invalid = await firm.ask('contacts', { kind: 'call', screening: 'expired' })
    expect(invalid).toMatchObject({ data: [{ contact_id: expired }], total: 1 })
    expect((await firm.ask('contacts', { since: '2026-04-01T00:00:00Z' })).total).toBe(1)
    await firm.expectNothingForStrangers('contacts')
  })

  test('question 3: wording, basis, time and source of the consent, and not of the answer that came later', async () => {
    const { data } = await firm.ask('contacts', { contact_id: screened, personal: 'opened' })
    expect(data.map(({ consent: held }) => held)).toEqual([
      {
        state: 'granted',
        basis: 'consent',
        method: 'checkbox',
        wording: 'Call me.',
        said_at: '2026-03-05T10:00:00.000Z',
        source: { type: 'ingest', id: '1a000000-0000-4000-8000-000000000001' },
      },
    ])
    const masked = await firm.ask('contacts', { contact_id: screened })
    expect(masked.data).toMatchObject([{ consent: { state: 'granted', wording: null, method: null } }])
    const { rows } = await firm.csvOf('contacts', { contact_id: screened, personal: 'opened' })
    expect(rows).toMatchObject([{ consent_wording: 'Call me.', consent_basis: 'consent', screening: 'valid' }])
  })
})

describe('question 8: who was marked as vulnerable, and whether they fared worse', () => {
  let firm: Firm
  let last: string
  type Story = {
    readonly flags?: readonly boolean[]
    readonly quoted?: 'standard' | 'loaded'
    readonly declined?: boolean
    readonly referred?: boolean
    readonly claimDays?: number
    readonly complained?: boolean
  }
  const at = '2026-03-01T09:00:00.000Z'

  const applied = async (customer_id: string, { quoted, declined, referred }: Story) => {
    const application_id = randomUUID()
    const { organisation_id } = firm
    const about = { organisation_id, application_id, customer_id }
    const events = [
      sampleEvent(applicationEvents, 'ApplicationStarted', 2),
      sampleEvent(applicationEvents, 'CustomerSaved', 2),
      ...(quoted ? [{ ...sampleEvent(quoteEvents, 'QuoteIssued'), quote_id: randomUUID(), decision: quoted }] : []),
      ...(referred ? [sampleEvent(applicationEvents, 'ApplicationReferred', 2)] : []),
      ...(declined ? [sampleEvent(applicationEvents, 'ApplicationDeclined', 2)] : []),
    ]
    await firm.happened(
      `application-${application_id}`,
      applicationStreamEvents,
      events.map((event) => [at, { ...event, ...about }]),
    )
  }
  const claimed = async (customer_id: string, days: number) => {
    const policy_id = randomUUID()
    const about = { organisation_id: firm.organisation_id, policy_id, customer_id, claim_id: randomUUID() }
    const decided = new Date(Date.parse(at) + days * 86_400_000).toISOString()
    await firm.happened(`policy-${policy_id}`, policyStreamEvents, [
      [at, { ...sampleEvent(policyEvents, 'PolicyBound', 2), ...about, start_date: '2026-02-02' }],
      [at, { ...sampleEvent(claimEvents, 'ClaimOpened'), ...about }],
      [decided, { ...sampleEvent(claimEvents, 'ClaimDeclined'), ...about }],
    ])
  }
  const person = async (story: Story): Promise<string> => {
    const contact_id = randomUUID()
    const about = { organisation_id: firm.organisation_id, customer_id: contact_id, contact_id, seen_by: [] }
    await firm.happened(`customer-${contact_id}`, customerEvents, [
      [at, { ...sampleEvent(customerEvents, 'CustomerSentIn'), ...about }],
    ])
    const flags = story.flags?.map((flagged) => ({
      ...sampleEvent(leadEvents, 'LeadVulnerabilityFlagged'),
      seen_by: [],
      flagged,
    }))
    const lead = [{ ...sampleEvent(leadEvents, 'LeadCreated'), ...about }, ...(flags ?? [])]
    await firm.happened(
      `lead-${contact_id}`,
      leadEvents,
      lead.map((event) => [at, event]),
    )
    if (story.quoted || story.declined || story.referred) await applied(contact_id, story)
    if (story.claimDays !== undefined) await claimed(contact_id, story.claimDays)
    const complaint = { ...sampleEvent(complaintEvents, 'ComplaintOpened'), ...about, complaint_id: randomUUID() }
    if (story.complained) await firm.happened(`complaint-${complaint.complaint_id}`, complaintEvents, [[at, complaint]])
    return contact_id
  }

  /** All that was recorded so far was recorded two months ago. */
  const untilLastMonth = async () => {
    const { pool, eventLog } = service.parts
    await untilFound({ db: pool, eventLog }, {})
    for (const [table, of] of [
      ['recorded_events', 'organisation_id'],
      ['event_log.event', `(metadata ->> 'organisation_id')::uuid`],
    ])
      await pool.query(`update ${table} set recorded_at = recorded_at - interval '62 days' where ${of} = $1`, [
        firm.organisation_id,
      ])
  }
  const month = (at = new Date()) => new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth())).toISOString()

  beforeAll(async () => {
    firm = await firmOf(await service.organisation('careful'))
    const several = async (count: number, story: Story) =>
      Promise.all(Array.from({ length: count }, async () => person(story)))
    const flags = [true]
    await several(10, { flags, quoted: 'standard', claimDays: 6 })
    await several(10, { flags, declined: true, complained: true })
    await several(2, { flags, referred: true, declined: true })
    await several(11, { quoted: 'standard', claimDays: 3, complained: true })
    await several(12, { declined: true, referred: true })
    await several(10, { flags, quoted: 'loaded', declined: true })
    await several(12, { quoted: 'loaded', declined: true })
    // Taken back: one of the others.
    last = await person({ flags: [true, false], quoted: 'standard' })
    await untilLastMonth()
  }, 60_000)

  const counts = {
    vulnerable: {
      people: 32,
      quoted: 20,
      declined: 22,
      loaded: 10,
      claim_declined: 10,
      claim_decided: 10,
      days_to_decide: 6,
      complained: 10,
    },
    others: {
      people: 36,
      quoted: 24,
      declined: 24,
      loaded: 12,
      claim_declined: 11,
      claim_decided: 11,
      days_to_decide: 3,
      complained: 11,
    },
  }

  test('both are counted alike, and so few people that they might be known are not told', async () => {
    const { data, total, known_at } = await firm.ask('vulnerable_customers')
    expect(data).toEqual([
      { group: 'vulnerable', ...counts.vulnerable, claim_paid: '<10', referred: '<10' },
      { group: 'others', ...counts.others, claim_paid: '<10', referred: '10 or more' },
    ])
    expect([total, known_at]).toEqual([2, month()])
  })

  test('of nobody, it shows as little', async () => {
    const { data } = await firm.ask('vulnerable_customers', { known_at: '2020-01-01T00:00:00Z' })
    expect(data).toMatchObject([{ people: '<10' }, { people: '<10', days_to_decide: null }])
  })

  test('two moments of one month are not told apart: who was marked between them cannot be worked out', async () => {
    const marked = { ...sampleEvent(leadEvents, 'LeadVulnerabilityFlagged'), seen_by: [], flagged: true }
    const before = new Date().toISOString()
    const { known_at: after } = await firm.happened(`lead-${last}`, leadEvents, [[at, marked]])
    for (const known_at of [before, after])
      expect(await firm.ask('vulnerable_customers', { known_at })).toMatchObject({
        known_at: month(new Date(known_at)),
        data: [{ people: 32 }, { people: 36 }],
      })
    const { position } = await firm.ask('policies_in_force', { on: '2026-01-01' })
    expect((await firm.refused('vulnerable_customers', { position: position ?? '' }))[0]).toBe(422)
  })

  test('a mark is in it from the next month on; as a file', async () => {
    await untilLastMonth()
    const { rows } = await firm.csvOf('vulnerable_customers')
    expect(rows).toMatchObject([
      { group: 'vulnerable', people: '33', quoted: '21' },
      { group: 'others', people: '35' },
    ])
  })

  test('of ten thousand people, nothing is read but those who were marked, and the claims', async () => {
    const many = await firmOf(await service.organisation('large'))
    await service.parts.pool.query(
      `insert into recorded_events (organisation_id, stream, revision, position, recorded_at, occurred_at, event_id, kind,
        actor_type, correlation_id, person_id)
      select $1, 'customer-' || id, 0, '', now() - interval '62 days', now(), gen_random_uuid(), 'CustomerSentIn', 'system', '', id
      from (select md5(number::text)::uuid as id from generate_series(1, 10000) as number) as person`,
      [many.organisation_id],
    )
    const read = vi.spyOn(service.parts.eventLog, 'read')

    const { data } = await many.ask('vulnerable_customers')

    const streams = read.mock.calls
      .map(([stream]) => stream)
      .filter((stream) => /^(customer|lead|application)-/.test(stream))
    read.mockRestore()
    expect(data).toMatchObject([{ people: '<10' }, { people: '10 or more' }])
    expect(streams).toEqual([])
  })

  test('422: of a time that is yet to come nothing is known', async () => {
    for (const list of ['vulnerable_customers', 'trial_balance', 'contacts'])
      expect(await firm.refused(list, { known_at: '2999-01-01T00:00:00Z' })).toEqual([422, ['known_at']])
  })

  test('another firm’s auditor is shown nothing of it', async () => {
    const address = (of: string) => `/audit/v1/organisations/${of}/lists/vulnerable_customers`
    const there = await service.send('GET', address(firm.organisation_id), { token: strangers })
    const own = await service.send('GET', address(stranger_id), { token: strangers })
    expect([there.status, own.status]).toEqual([404, 200])
    expect(own.body.data).toMatchObject([{ people: '<10' }, { people: '<10' }])
  })
})

describe('question 20: whether the books balance, as they stood at a moment', () => {
  test('what was posted later is not in it', async () => {
    const firm = await firmOf(await service.organisation('books'))
    const policy_id = randomUUID()
    const stream = `policy-${policy_id}`
    const about = { organisation_id: firm.organisation_id, policy_id }
    const at = '2026-08-15T09:00:00.000Z'
    await firm.happened(stream, policyStreamEvents, [
      [at, { ...sampleEvent(policyEvents, 'PolicyBound', 2), ...about }],
      [at, sampleEvent(premiumEvents, 'PremiumDue')],
      [at, sampleEvent(premiumEvents, 'PremiumCollected')],
    ])
    const [, due, collected] = await service.parts.storedLog.read(stream)
    const accountsAt = async (position: string | undefined) => {
      const { data, balanced } = await firm.ask<Balance>('trial_balance', { position: position ?? '' })
      expect(balanced).toBe(true)
      return data.map(({ accounts }) => accounts)
    }
    const premiums = { account: 'premiums', debit_pence: 0, credit_pence: 2_875 }
    const of = (account: string, debit_pence: number) => ({ account, debit_pence, credit_pence: 0 })
    expect(await accountsAt(due?.position)).toEqual([[of('receivable', 2_875), premiums]])
    expect(await accountsAt(collected?.position)).toEqual([
      [of('receivable', 0), of('provider_balance', 2_875), premiums],
    ])
    const before = await firm.ask('trial_balance', { known_at: '2020-01-01T00:00:00Z' })
    expect(before).toMatchObject({ data: [], total: 0 })
    await firm.expectNothingForStrangers('trial_balance')
  })
})
