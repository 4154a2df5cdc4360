import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'csv-parse/sync'
import type { LedgerAccount, LedgerEntry, TrialBalance } from '#domain/ledger/record.ts'
import { organisationEvents } from '#domain/access/events.ts'
import type { RecordedEvent } from '#domain/event.ts'
import { cursorOf } from '#infra/http/cursor.ts'
import { sql, transaction } from '#infra/postgres/postgres.ts'
import { ledger } from '../../projections/ledger/projection.ts'
import { applyEvents } from '../../projections/fold.ts'
import { tableOf } from '../../projections/table.ts'
import { ledgerRoutes } from '../../query-api/ledger/routes.ts'
import { readModel } from '../read-model.ts'
import { serve } from '../serve.ts'
import { sampleEvent } from '../stored-events/samples.ts'
import {
  captured,
  cardCharged,
  cardUsed,
  collectedOfCard,
  disputed,
  due,
  dispute,
  made,
  owed,
  policy_id,
  premium_id,
  refunded,
  soldByCard,
  told,
  type Posted,
} from './events.ts'
import { organisation_id, storedAs } from './ledger-rows.ts'

const base = `/admin/v1/organisations/${organisation_id}/ledger`
const london = { ...sampleEvent(organisationEvents, 'OrganisationRegistered'), time_zone: 'Europe/London' }

/** An event each, in the evening of one day and of the next, by which it is the day after in London. */
const days: readonly (readonly [occurred_at: string, events: readonly Posted[]])[] = [
  [
    '2026-07-01T09:00:00.000Z',
    [{ event: london, stream: `organisation-${organisation_id}` }, ...cardCharged, cardUsed],
  ],
  ['2026-07-01T23:30:00.000Z', [soldByCard, due]],
  ['2026-07-05T09:00:00.000Z', [...told({ by: 'card' }, captured, made(1_000)), owed(1_000), refunded(1_000)]],
  ['2026-07-09T09:00:00.000Z', told({ by: 'card' }, captured, made(1_000), dispute('Opened', 1_875)).slice(-1)],
]
let count = 0
const events: readonly RecordedEvent[] = days.flatMap(([occurred_at, posted]) =>
  posted.map(({ event, stream }) => storedAs(event, { stream, count: ++count, occurred_at })),
)

let tables: Awaited<ReturnType<typeof readModel>>
let api: Awaited<ReturnType<typeof serve>>
beforeAll(async () => {
  tables = await readModel(ledger)
  await tables.apply(events)
  api = await serve(ledgerRoutes({ pool: tables.pool }))
})
afterAll(async () => {
  await api[Symbol.asyncDispose]()
  await tables[Symbol.asyncDispose]()
})

const get = async <Body>(path: string): Promise<Body> => {
  const { status, body } = await api.get(`${base}/${path}`)
  expect({ status, body }).toMatchObject({ status: 200 })
  return body as Body // as each answer is checked against its schema
}
const csv = async (path: string, headers?: Record<string, string>) => {
  const response = await fetch(`${api.origin}${base}/${path}`, { ...(headers && { headers }) })
  const text = await response.text()
  return { response, rows: parse<Record<string, string>>(text, { columns: true }), text }
}
const balances = ({ data }: { readonly data: readonly LedgerAccount[] }) =>
  Object.fromEntries(data.map(({ account, balance_pence }) => [account, balance_pence]))

test('each account has its debits, its credits and its balance', async () => {
  const { as_of, data } = await get<{ as_of: null; data: LedgerAccount[] }>('accounts')

  expect(as_of).toBeNull()
  expect(data).toContainEqual({
    account: 'provider_balance',
    currency_code: 'GBP',
    test: false,
    debit_pence: 2_875,
    credit_pence: 2_875,
    balance_pence: 0,
  })
  expect(balances({ data })).toEqual({
    receivable: 0,
    provider_balance: 0,
    disputed: 1_875,
    refunds_payable: 0,
    premiums: -2_875,
    premium_refunds: 1_000,
    unsold_payments: 0,
  })
})

test.each([
  ['2026-06-30', {}],
  // What was sold at half past midnight in London is of the next day.
  ['2026-07-01', { provider_balance: 2_875, receivable: -2_875, unsold_payments: 0 }],
  ['2026-07-02', { provider_balance: 2_875, receivable: 0, premiums: -2_875, unsold_payments: 0 }],
  [
    '2026-07-08',
    {
      provider_balance: 1_875,
      refunds_payable: 0,
      receivable: 0,
      premiums: -2_875,
      premium_refunds: 1_000,
      unsold_payments: 0,
    },
  ],
])('balances are told as of the end of %s', async (date, expected) => {
  expect(balances(await get(`accounts?as_of=${date}`))).toEqual(expected)
})

test('debits and credits are equal', async () => {
  const { balanced, data } = await get<{ balanced: boolean; data: TrialBalance[] }>('trial_balance')

  expect(balanced).toBe(true)
  expect(data).toMatchObject([
    { currency_code: 'GBP', test: false, debit_pence: 2_875, credit_pence: 2_875, balanced: true },
  ])
  expect(data[0]?.accounts).toContainEqual({ account: 'premiums', debit_pence: 0, credit_pence: 2_875 })
})

type Page = { readonly data: readonly LedgerEntry[]; readonly next_cursor: string | null }
const kinds = ({ data }: Page) => data.map(({ kind }) => kind)

test('entries are listed with their lines, newest first, page by page', async () => {
  const all = await get<Page>('entries')
  expect(kinds(all)).toEqual([
    'dispute_opened',
    'refund_owed',
    'refund_made',
    'premium_due',
    'payment_used',
    'payment_received',
  ])
  expect(all.data[2]).toMatchObject({
    posted_on: '2026-07-05',
    policy_id,
    premium_id,
    payment_intent_id: 'pi_1',
    provider_refund_id: 're_1',
    lines: [
      { account: 'provider_balance', debit_pence: 0, credit_pence: 1_000 },
      { account: 'refunds_payable', debit_pence: 1_000, credit_pence: 0 },
    ],
  })
  const listed: LedgerEntry[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const page: Page = await get(`entries?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`)
    listed.push(...page.data)
    cursor = page.next_cursor
  }
  expect(listed).toEqual(all.data)
})

test.each([
  ['from=2026-07-05', ['dispute_opened', 'refund_owed', 'refund_made']],
  ['until=2026-07-01', ['payment_used', 'payment_received']],
  ['from=2026-07-02&until=2026-07-02', ['premium_due']],
  ['account=disputed', ['dispute_opened']],
  ['account=premium_refunds', ['refund_owed']],
  [`premium_id=${premium_id}`, ['dispute_opened', 'refund_owed', 'refund_made', 'premium_due']],
  [`policy_id=${policy_id}&account=premiums`, ['premium_due']],
  [
    'payment_id=f0000000-0000-4000-8000-000000000001',
    ['dispute_opened', 'refund_made', 'payment_used', 'payment_received'],
  ],
])('entries are found by %s', async (filter, expected) => {
  expect(kinds(await get(`entries?${filter}`))).toEqual(expected)
})

test.each([
  ['accounts?as_of=2026-02-30', 'as_of'],
  ['trial_balance?as_of=yesterday', 'as_of'],
  ['entries?from=1', 'from'],
  ['entries?account=cash', 'account'],
  ['entries?cursor=nothing', 'cursor'],
  ['entries?format=xml', 'format'],
])('%s is refused, and the parameter is named', async (path, parameter) => {
  const { status, body } = await api.get(`${base}/${path}`)

  expect(status).toBe(422)
  expect(body).toMatchObject({
    error: { code: 'invalid_parameter', fields: { [parameter]: expect.any(String) as unknown } },
  })
})

test('each is a file for spreadsheets as well, by a parameter or by the header Accept', async () => {
  const accounts = await csv('accounts?format=csv')
  expect(accounts.response.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  expect(accounts.text.split('\n')[0]).toBe(
    '"account","currency_code","test","debit_pence","credit_pence","balance_pence"',
  )
  expect(accounts.rows).toContainEqual({
    account: 'premiums',
    currency_code: 'GBP',
    test: 'false',
    debit_pence: '0',
    credit_pence: '2875',
    balance_pence: '-2875',
  })

  const trial = await csv('trial_balance', { accept: 'Text/CSV' })
  expect(trial.rows.at(-1)).toMatchObject({ account: 'total', debit_pence: '2875', credit_pence: '2875' })

  const first = await csv('entries?limit=2', { accept: 'text/csv, */*' })
  expect(
    first.rows.map(({ kind, account, debit_pence, credit_pence }) => [kind, account, debit_pence, credit_pence]),
  ).toEqual([
    ['dispute_opened', 'provider_balance', '0', '1875'],
    ['dispute_opened', 'disputed', '1875', '0'],
    ['refund_owed', 'refunds_payable', '0', '1000'],
    ['refund_owed', 'premium_refunds', '1000', '0'],
  ])
  const next = await csv(`entries?format=csv&cursor=${first.response.headers.get('x-next-cursor')}`)
  expect(next.rows[0]).toMatchObject({ kind: 'refund_made', provider_refund_id: 're_1' })
  expect(next.response.headers.get('x-next-cursor')).toBeNull()
})

test('what a former version has stored is posted once, whether a look at the provider comes with it or much later', async () => {
  const former = [...cardCharged, cardUsed, soldByCard, due, collectedOfCard, disputed()]
  const looked = told({ by: 'card' }, captured, dispute('Opened'), dispute('Lost'))
  const recorded = [...former, ...looked].map(({ event, stream }, place) =>
    storedAs(event, { stream, count: place + 1, occurred_at: '2026-07-01T09:00:00.000Z' }),
  )
  await using together = await readModel(ledger)
  await together.apply(recorded)
  await using apart = await readModel(ledger)
  await apart.apply(recorded.slice(0, former.length))
  for (const each of recorded.slice(former.length)) await apart.apply([each])

  const entriesIn = async ({ pool }: typeof apart) =>
    (
      await pool.query<{ kind: string; pence: string | null; sum: string }>(sql`
      select document ->> 'kind' as kind, provider_balance as pence, coalesce(receivable, 0) + coalesce(provider_balance, 0)
        + coalesce(disputed, 0) + coalesce(premiums, 0) + coalesce(unsold_payments, 0) as sum
      from ledger where part = 'entry' order by id`)
    ).rows
  expect(await entriesIn(apart)).toEqual([
    { kind: 'payment_received', pence: '2875', sum: '0' },
    { kind: 'payment_used', pence: null, sum: '0' },
    { kind: 'premium_due', pence: null, sum: '0' },
    { kind: 'dispute_opened', pence: '-2875', sum: '0' },
    { kind: 'dispute_lost', pence: null, sum: '0' },
  ])
  expect(await entriesIn(together)).toEqual(await entriesIn(apart))
})

test('made again, in batches or one by one, the ledger is the same', async () => {
  const { pool } = tables
  const rowsOf = async (table: string) =>
    (await pool.query<{ row: unknown }>(`select to_jsonb(each) as row from ${table} as each order by part, id`)).rows
  const again = tableOf(ledger, '__anew')
  await pool.query(`${again.create}; ${again.createIndexes}`)
  for (const each of events) await transaction(pool, async (db) => applyEvents(db, ledger, again, [each]))

  expect(await rowsOf(again.name)).toEqual(await rowsOf('ledger'))
})

test.each<readonly [string, string]>([
  ['a last day after which there is none', 'until=9999-12-31'],
  ['a first day before all others', 'from=0001-01-01'],
])('%s is taken', async (_title, query) => {
  expect(await get<{ data: LedgerEntry[] }>(`entries?${query}`)).toEqual(await get('entries'))
})

test.each([
  ['2026-07-01T00:00:00.000Z', '1\u0000'],
  ['0000-01-01T00:00:00.000Z', '1 premium'],
])('422 invalid_parameter: a cursor that no list has given (%s, %s)', async (...place) => {
  expect(await api.get(`${base}/entries?cursor=${cursorOf(place)}`)).toMatchObject({
    status: 422,
    body: { error: { code: 'invalid_parameter' } },
  })
})
