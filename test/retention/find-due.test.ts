import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Periods } from '#domain/retention/record.ts'
import { CustomerId, OrganisationId } from '#domain/values.ts'
import { countDue, findDue, type Place, type RecordType } from '../../command-api/retention/find-due.ts'
import { findPeopleDue } from '../../command-api/retention/find-people.ts'
import { allProjections } from '../../projections/all-projections.ts'
import { readModel } from '../read-model.ts'

const organisation_id = OrganisationId.parse('6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f')

let database: Awaited<ReturnType<typeof readModel>>
beforeAll(async () => {
  database = await readModel(...allProjections)
})
afterAll(async () => database[Symbol.asyncDispose]())

/** A row of a read model, as far as its columns matter. */
const given = async (table: string, row: Readonly<Record<string, unknown>>) => {
  const id = randomUUID()
  await database.pool.query(
    `insert into ${table} select * from json_populate_record(null::${table}, $1)`, // of tables that the test names
    [JSON.stringify({ organisation_id, id, ...row })],
  )
  return id
}

const at = (time: string) => new Date(`${time}Z`)

/** If a record is due at each of these times. */
const isDue = async (type: RecordType, id: string, periods: readonly string[], times: readonly string[]) =>
  Promise.all(
    times.map(async (time) => {
      const asked = { organisation_id, type, periods, now: at(time), after: undefined, limit: 1_000 }
      return (await findDue(database.pool, asked)).records.some(({ record }) => record.id === id)
    }),
  )

test('a period is over a moment after its end, and all that bind must be', async () => {
  const id = await given('applications', {
    status: 'abandoned',
    customer_id: randomUUID(),
    document: {},
    updated_at: at('2026-01-10T12:00:00'),
  })

  const times = ['2026-01-20T12:00:00', '2026-01-20T12:00:00.001', '2026-02-09T12:00:00.001']
  expect(await isDue('application', id, ['10 days'], times)).toEqual([false, true, true])
  expect(await isDue('application', id, ['10 days', '30 days'], times)).toEqual([false, false, true])
})

test('what was erased is passed over, a thousand at a time', async () => {
  const of = OrganisationId.parse(randomUUID())
  const began = (count: number, from: string) =>
    database.pool.query(
      `insert into applications (organisation_id, id, status, customer_id, document, updated_at)
       select $1, gen_random_uuid(), 'abandoned', gen_random_uuid(), '{}', $2::timestamptz + number * interval '1 second'
       from generate_series(1, $3::integer) as number`,
      [of, from, count],
    )
  await began(2_500, '2026-01-10T12:00:00Z')
  await database.pool.query(
    `insert into record_erasures (organisation_id, id, record_type, record_id, state, erased_at)
     select $1, gen_random_uuid(), 'application', id, 'erased', now() from applications where organisation_id = $1`,
    [of],
  )
  await began(3, '2026-01-11T12:00:00Z')

  const asked = {
    organisation_id: of,
    type: 'application',
    periods: ['10 days'],
    now: at('2026-02-01T12:00:00'),
  } as const
  const found: number[] = []
  let after: Place | undefined
  do {
    const page = await findDue(database.pool, { ...asked, after, limit: 2 })
    found.push(page.records.length)
    after = page.after
  } while (after)

  expect(found).toEqual([0, 0, 2, 1])
  const counted = (most: number) => countDue(database.pool, { ...asked, most })
  expect(await counted(2_502)).toEqual({ count: 2, isAtLeast: true })
  expect(await counted(2_504)).toEqual({ count: 3, isAtLeast: false })
})

test('an application that was postponed ends on the day until which it was', async () => {
  const postponed = (until: string) =>
    given('applications', {
      status: 'postponed',
      customer_id: randomUUID(),
      document: { decisions: [{ until: '2026-12-24' }, { until }] },
      updated_at: at('2026-01-10T12:00:00'),
    })
  const [later, before] = [await postponed('2026-03-01'), await postponed('2026-01-05')]

  expect(
    await isDue(
      'application',
      later,
      ['10 days'],
      ['2026-01-21T00:00:00', '2026-03-11T00:00:00', '2026-03-11T00:00:01'],
    ),
  ).toEqual([false, false, true])
  expect(await isDue('application', before, ['10 days'], ['2026-01-20T12:00:00', '2026-01-20T12:00:01'])).toEqual([
    false,
    true,
  ])
})

test('a policy that has lapsed ends after the last day on which it can be reinstated', async () => {
  const of = (status: string) =>
    given('policies', {
      status,
      customer_id: randomUUID(),
      created_at: at('2026-01-01T12:00:00'),
      document: {
        updated_at: '2026-01-10T12:00:00Z',
        lapsed_on: '2026-01-10',
        collection_rules: { reinstate_within_days: 30 },
      },
    })
  const [lapsed, cancelled] = [await of('lapsed'), await of('cancelled')]

  // The last of 30 days is 9 February; the tenth day after it has passed on 20 February.
  const times = ['2026-01-20T12:00:01', '2026-02-20T00:00:00', '2026-02-20T00:00:01']
  expect(await isDue('policy', lapsed, ['10 days'], times)).toEqual([false, false, true])
  expect(await isDue('policy', cancelled, ['10 days'], times)).toEqual([true, true, true])
})

const changed = at('2026-01-10T12:00:00')
/** After the 30 days, before the 60. */
const now = '2026-02-20T12:00:00'

/** Somebody of whom one application was erased, and nothing else is known. */
const person = async () => {
  const id = CustomerId.parse(await given('customers', { updated_at: changed }))
  const record_id = await given('applications', { customer_id: id, document: {} })
  await erased('application', record_id, id)
  return id
}
const erased = (record_type: string, record_id: string, contact_id: string, erased_at = changed) =>
  given('record_erasures', { record_type, record_id, contact_id, state: 'erased', erased_at })

const goes = async (only: CustomerId, periods: Periods['periods'] = { applications: '30 days' }, time = now) => {
  const rules = { periods, former: [] }
  const found = await findPeopleDue(database.pool, { organisation_id, rules, now: at(time), only })
  return found.people.length === 1
}

test('a person goes with the last of their records, a moment after the longest of the periods', async () => {
  const id = await person()

  expect(await goes(id)).toBe(true)
  expect(await goes(id, { applications: '30 days' }, '2026-02-09T12:00:00')).toBe(false)
  expect(await goes(id, { applications: '30 days' }, '2026-02-09T12:00:00.001')).toBe(true)
  expect(await goes(id, { applications: '30 days', leads: '60 days' })).toBe(false)
})

test('the second person of joint cover goes as the first does', async () => {
  const second_contact_id = CustomerId.parse(await given('customers', { updated_at: changed }))
  await given('record_erasures', {
    record_type: 'policy',
    record_id: randomUUID(),
    contact_id: await person(),
    second_contact_id,
    state: 'erased',
    erased_at: changed,
  })

  expect(await goes(second_contact_id)).toBe(true)
})

test('somebody of whom nothing was ever erased does not go', async () => {
  const id = CustomerId.parse(await given('customers', { updated_at: changed }))
  expect(await goes(id)).toBe(false)
  await given('record_erasures', {
    record_type: 'lead',
    record_id: id,
    contact_id: id,
    state: 'requested',
    erased_at: null,
  })
  expect(await goes(id)).toBe(false)
})

test.each([
  ['an application', 'application', 'applications', 'customer_id', { document: {} }],
  ['an application of somebody else with them', 'application', 'applications', 'partner_id', { document: {} }],
  ['a policy', 'policy', 'policies', 'customer_id', {}],
  ['an ingest', 'ingest', 'ingests', 'contact_id', {}],
  ['an outcome', 'outcome_report', 'outcomes', 'contact_id', { viewer_id: organisation_id }],
] as const)('%s keeps its person until it is erased, too', async (_name, type, table, column, row) => {
  const id = await person()
  const record_id = await given(table, { [column]: id, ...row })

  expect(await goes(id)).toBe(false)
  await erased(type, record_id, id)
  expect(await goes(id)).toBe(true)
})

test('an application that became a policy goes with it', async () => {
  const id = await person()
  const policy_id = await given('policies', { customer_id: id })
  await given('applications', { customer_id: id, document: { policy_id } })

  expect(await goes(id)).toBe(false)
  await erased('policy', policy_id, id)
  expect(await goes(id)).toBe(true)
})

test('a report of a message keeps its person until it is erased, too', async () => {
  const id = await person()
  const news_id = randomUUID()
  await given('message_news', { news_id, contact_id: id })

  expect(await goes(id)).toBe(false)
  await erased('message_news', news_id, id)
  expect(await goes(id)).toBe(true)
})

test.each([
  ['a lead', 'lead', 'lead_records', 'contact_id'],
  ['what outreach knows', 'outreach_person', 'outreach_people', 'id'],
])('%s that has begun again since it was erased keeps its person', async (_name, type, table, column) => {
  const id = await person()
  const since = at('2026-01-15T12:00:00')
  await given(table, { [column]: id, updated_at: since })
  await erased(type, id, id, at('2026-01-15T11:59:59'))

  expect(await goes(id)).toBe(false)
  await erased(type, id, id, since)
  expect(await goes(id)).toBe(true)
})

test('a membership keeps its person', async () => {
  const id = await person()
  await given('memberships', { customer_id: id })

  expect(await goes(id)).toBe(false)
})

test('a complaint keeps its person until it is closed, and then to the last day on which it is to be kept', async () => {
  const [open, closed, endless] = [await person(), await person(), await person()]
  await given('complaints', { contact_id: open, state: 'open', document: { keep_until: '2026-01-01' } })
  await given('complaints', { contact_id: closed, state: 'closed', document: { keep_until: '2026-02-20' } })
  await given('complaints', { contact_id: endless, state: 'closed', document: { keep_until: null } })

  expect([await goes(open), await goes(closed), await goes(endless)]).toEqual([false, false, false])
  expect(await goes(closed, { applications: '30 days' }, '2026-02-21T00:00:00')).toBe(true)
})

test('a person whose erasure is asked for is not found again, one whose erasure was given up is', async () => {
  const ask = async (row: object) => {
    const id = await person()
    await given('erasures', { contact_id: id, requested_at: changed, ...row })
    const rules = { periods: { applications: '30 days' }, former: [] }
    const { people } = await findPeopleDue(database.pool, { organisation_id, rules, now: at(now) })
    return { found: people.includes(id), alone: await goes(id) }
  }

  // Asked about alone, as the erasure itself does before it begins, it is due still.
  expect(await ask({})).toEqual({ found: false, alone: true })
  expect(await ask({ erased_at: changed })).toEqual({ found: false, alone: false })
  expect(await ask({ given_up_at: changed })).toEqual({ found: true, alone: true })
})
