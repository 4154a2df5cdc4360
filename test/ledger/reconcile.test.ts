import { execFile } from 'node:child_process'
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import Stripe from 'stripe'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { organisationEvents } from '#domain/access/events.ts'
import { PaymentId } from '#domain/payments/events.ts'
import { payment, type Statement } from '#domain/payments/payment.ts'
import { PremiumId } from '#domain/premiums/events.ts'
import { derivedId } from '#infra/ids.ts'
import { makeStripe, type PaymentStatement } from '#infra/stripe/provider.ts'
import { ledger } from '../../projections/ledger/projection.ts'
import { startStripe } from '../../stand-ins/stripe/stripe.ts'
import { outsideHttp } from '../outside-http.ts'
import { readModel } from '../read-model.ts'
import { sampleEvent } from '../stored-events/samples.ts'
import {
  application_id,
  cardCharged,
  cardReturned,
  collected,
  dueByDebit,
  owed,
  policy_id,
  refunded,
  requested,
  soldByDebit,
  type Posted,
} from './events.ts'
import { organisation_id, storedAs } from './ledger-rows.ts'

const root = join(import.meta.dirname, '../..')
const secret_key = 'sk_test_reconciled'
const registered = sampleEvent(organisationEvents, 'OrganisationRegistered')

let standIn: Awaited<ReturnType<typeof startStripe>>
let tables: Awaited<ReturnType<typeof readModel>>
let directory: string
let file: string
/** What the provider calls each payment, refund and dispute of the test. */
let ids: Readonly<Record<'sold' | 'collected' | 'refused' | 'refund' | 'underWay' | 'won' | 'dispute', string>>

/** A sale, collections, refunds and disputes at the provider, and what our processes have stored of each. */
beforeAll(async () => {
  standIn = await startStripe()
  tables = await readModel(ledger)
  directory = await mkdtemp(join(tmpdir(), 'coverstream-ledger-'))
  file = join(directory, 'balance.csv')
  const { hostname: host, port } = new URL(standIn.url)
  const stripe = new Stripe(secret_key, { host, port, protocol: 'http', telemetry: false })
  const provider = makeStripe(outsideHttp(() => false))({ base_url: standIn.url, secret_key, stripe_account: null })
  const act = async (path: string, fields: Record<string, string> = {}) =>
    expect(
      (await fetch(`${standIn.url}/stand-in/${path}`, { method: 'POST', body: new URLSearchParams(fields) })).status,
    ).toBe(200)
  const customer = (await stripe.customers.create({ name: 'Anna Ash' })).id
  const { payment_method, mandate } = await stripe.setupIntents.create({
    customer,
    confirm: true,
    payment_method_data: { type: 'bacs_debit', bacs_debit: { sort_code: '108800', account_number: '66374958' } },
  })
  const asked = { amount: 2_875, currency: 'gbp', customer }
  const card = async () => {
    const { id } = await stripe.paymentIntents.create(asked)
    await act(`payment_intents/${id}/confirm`, { payment_method: 'pm_card_visa' })
    return id
  }
  const debit = async (settled?: Record<string, string>) => {
    const means = { payment_method: idOf(payment_method), mandate: idOf(mandate), confirm: true }
    const { id } = await stripe.paymentIntents.create({ ...asked, ...means })
    if (settled) await act(`payment_intents/${id}/settle`, settled)
    return id
  }
  const stored: Posted[] = [{ event: registered, stream: `organisation-${organisation_id}` }]
  const look = async (payment_intent: string, method: 'card' | 'direct_debit') => {
    const read = await provider.readStatement(payment_intent)
    if (read.outcome !== 'done') throw new Error(`The provider does not tell of ${payment_intent}.`)
    stored.push(...storedOf(read.value, method))
  }

  const sold = await card()
  await look(sold, 'card')
  const inDebit = await debit({})
  const refund = (await stripe.refunds.create({ payment_intent: inDebit, amount: 1_000 })).id
  const back = await stripe.refunds.create({ payment_intent: inDebit, amount: 400 })
  await act(`refunds/${back.id}/fail`)
  await look(inDebit, 'direct_debit')
  const refused = await debit({ failure_code: 'insufficient_funds' })
  await look(refused, 'direct_debit')
  const underWay = await debit()
  await look(underWay, 'direct_debit')
  const won = await card()
  await act(`payment_intents/${won}/dispute`, { status: 'needs_response' })
  const dispute = (await stripe.disputes.list({ payment_intent: won })).data[0]?.id ?? ''
  await stripe.disputes.update(dispute, { evidence: { uncategorized_text: 'winning_evidence' } })
  await look(won, 'card')
  const lost = await card()
  await act(`payment_intents/${lost}/dispute`, { amount: '1000', status: 'needs_response' })
  await look(lost, 'card')
  // For nothing yet, and given back; and what a version without streams of payments has stored, with no names of refunds.
  const unsold = await card()
  await stripe.refunds.create({ payment_intent: unsold })
  stored.push(...namedBy(unsold, [...cardCharged, cardReturned('refunded')]))
  const former = await debit({})
  await stripe.refunds.create({ payment_intent: former, amount: 500 })
  stored.push(...namedBy(former, [soldByDebit, dueByDebit, requested(), collected(), owed(500), refunded(500)]))

  const occurred_at = new Date().toISOString()
  await tables.apply(stored.map(({ event, stream }, count) => storedAs(event, { stream, count, occurred_at })))
  const authorization = `Basic ${Buffer.from(`${secret_key}:`).toString('base64')}`
  const report = await fetch(`${standIn.url}/stand-in/balance_change_from_activity.csv`, { headers: { authorization } })
  await writeFile(file, await report.text())
  ids = { sold, collected: inDebit, refused, refund, underWay, won, dispute }
}, 60_000)
afterAll(async () => {
  await tables[Symbol.asyncDispose]()
  await standIn.close()
  await rm(directory, { recursive: true, force: true })
})

const idOf = (given: string | { id: string } | null) => (typeof given === 'string' ? given : (given?.id ?? ''))

/** What the stream of a payment holds after a look at the provider. */
const storedOf = (
  { id, amount_pence, paid_at, ...read }: PaymentStatement,
  method: 'card' | 'direct_debit',
): Posted[] => {
  const payment_id = PaymentId.parse(derivedId('payment', id))
  const opened = { payment_id, application_id, policy_id, premium_id: PremiumId.parse(derivedId('premium', id)) }
  const refunds = read.refunds.map((each) => ({ ...each, refund_id: null }))
  const statement: Statement = {
    ...read,
    refunds,
    payment_intent_id: id,
    captured_pence: amount_pence,
    captured_at: paid_at,
  }
  const as = { ...opened, method, attempt: 1, amount_pence, currency_code: 'GBP' }
  return payment
    .decide({ type: 'RecordStatement', statement, opened: as, changes: 0 }, undefined)
    .map((event) => ({ event, stream: `payment-${payment_id}` }))
}

const namedBy = (payment_intent_id: string, posted: readonly Posted[]): Posted[] =>
  posted.map(({ event, stream }) => ({
    event: 'payment_intent_id' in event && event.payment_intent_id ? { ...event, payment_intent_id } : event,
    stream,
  }))

/** Runs the command as it is run by hand. */
const run = (...words: readonly string[]) =>
  new Promise<{ readonly code: unknown; readonly lines: readonly string[]; readonly said: string }>((resolve) => {
    const env = { PATH: process.env['PATH'], DATABASE_URL: tables.url, DATA_DIR: directory }
    const given = ['cli/ledger.ts', ...words]
    execFile(process.execPath, given, { cwd: root, env, timeout: 60_000 }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, lines: stdout.split('\n').filter(Boolean), said: stderr }),
    )
  })
const reconcile = (path: string, ...words: readonly string[]) =>
  run('reconcile', path, '--organisation', organisation_id, ...words)

/** The file, changed. */
const changed = async (change: (text: string) => string): Promise<string> => {
  const path = join(directory, `${Math.random()}.csv`)
  const text = await readFile(file, 'utf8')
  expect(change(text)).not.toBe(text)
  await writeFile(path, change(text))
  return path
}
const rowWith = (text: string, ...words: readonly string[]): string =>
  text.split('\n').find((row) => words.every((word) => row.includes(word))) ??
  expect.fail(`No row has ${words.join()}.`)

const differencesIn = (lines: readonly string[]): readonly string[] =>
  lines.filter((line) => line.includes(' in the ledger') && !line.startsWith('In all')).toSorted()
/** By what the firm's own lists know a payment. */
const knownAs = (payment_intent: string): string => `(payment_id ${derivedId('payment', payment_intent)})`

test('what the provider has exported is equal to the ledger, and its fees are summed by kind', async () => {
  const { code, lines, said } = await reconcile(file)

  expect({ code, said }).toEqual({ code: 0, said: '' })
  expect(lines).toEqual([
    expect.stringMatching(/^charge GBP: 8 rows, 23000 pence, fees [1-9]\d* pence$/),
    expect.stringMatching(/^charge_failure GBP: 1 row, -2875 pence, fees -29 pence$/),
    'dispute GBP: 2 rows, -3875 pence, fees 4000 pence',
    expect.stringMatching(/^dispute_reversal GBP: 1 row, 2875 pence, fees \S+ pence$/),
    'refund GBP: 4 rows, -4775 pence, fees 0 pence',
    'refund_failure GBP: 1 row, 400 pence, fees 0 pence',
    'Not answered by the banks yet: 1 payment, 2875 pence',
    'In all GBP: 14750 pence in the file, 11875 pence in the ledger',
    'No differences',
  ])
})

test('each difference is named, with what the file and the ledger have of it', async () => {
  const { sold, collected: debit, refund, dispute, won } = ids
  const path = await changed((text) => {
    const refundRow = rowWith(text, ',refund,', refund)
    return [
      // A refund that is missing, a payment of another amount, a dispute that was not won, and one that nobody knows.
      [`${refundRow}\n`, ''],
      [rowWith(text, ',charge,', sold), rowWith(text, ',charge,', sold).replace(',28.75,', ',30.00,')],
      [`${rowWith(text, ',dispute_reversal,', dispute)}\n`, ''],
      [refundRow, refundRow],
    ].reduce(
      (all, [from = '', to = '']) => all.replace(from, to),
      text + refundRow.replaceAll(refund, 're_unknown') + '\n',
    )
  })
  const { code, lines } = await reconcile(path)

  expect(code).toBe(1)
  expect(differencesIn(lines)).toEqual(
    [
      `dispute ${dispute} of ${won} GBP: -2875 pence in the file, 0 pence in the ledger ${knownAs(won)}`,
      `payment ${sold} GBP: 3000 pence in the file, 2875 pence in the ledger ${knownAs(sold)}`,
      `refund ${refund} of ${debit} GBP: 0 pence in the file, -1000 pence in the ledger ${knownAs(debit)}`,
      `refund re_unknown of ${debit} GBP: -1000 pence in the file, 0 pence in the ledger ${knownAs(debit)}`,
    ].toSorted(),
  )
  expect(lines.at(-1)).toBe('4 differences')
})

test('payouts and what the provider charges for itself are sums, and no differences', async () => {
  const path = await changed((text) => {
    const [header = '', ...rows] = text.trimEnd().split('\n')
    const columns = header.split(',')
    const row = (values: Readonly<Record<string, string>>) => columns.map((column) => values[column] ?? '').join(',')
    const payout = { currency: 'gbp', gross: '-100.00', fee: '0.00', reporting_category: 'payout', source_id: 'po_1' }
    const fee = { currency: 'gbp', gross: '-2.50', fee: '0.00', reporting_category: 'fee' }
    return [header, ...rows, row(payout), row(fee), ''].join('\n')
  })
  const { code, lines } = await reconcile(path)

  expect(code).toBe(0)
  expect(lines).toContain('payout GBP: 1 row, -10000 pence, fees 0 pence')
  expect(lines).toContain('fee GBP: 1 row, -250 pence, fees 0 pence')
})

test('what moved in another currency is another amount', async () => {
  const { sold } = ids
  const path = await changed((text) => {
    const row = rowWith(text, ',charge,', sold)
    return text.replace(row, row.replace(',gbp,', ',eur,'))
  })
  const { code, lines } = await reconcile(path)

  expect(code).toBe(1)
  expect(differencesIn(lines)).toEqual([
    `payment ${sold} EUR: 2875 pence in the file, 0 pence in the ledger ${knownAs(sold)}`,
    `payment ${sold} GBP: 0 pence in the file, 2875 pence in the ledger ${knownAs(sold)}`,
  ])
  expect(lines).toContain('In all EUR: 2875 pence in the file, 0 pence in the ledger')
})

test('a card that is charged waits for no bank: what the ledger does not know of it is a difference', async () => {
  const row = (text: string) => rowWith(text, ',charge,', ids.underWay)
  const path = await changed((text) => text.replace(row(text), row(text).replace(',bacs_debit,', ',card,')))
  const { code, lines } = await reconcile(path)

  expect(code).toBe(1)
  expect(differencesIn(lines)).toEqual([`payment ${ids.underWay} GBP: 2875 pence in the file, 0 pence in the ledger`])
})

test('up to a day before all of it there is nothing to compare', async () => {
  expect(await reconcile(file, '--until', '2020-01-01')).toMatchObject({
    code: 0,
    lines: ['Neither the file nor the ledger has a payment, a refund or a dispute', 'No differences'],
  })
})

test('whoever compares with the account of the wrong mode is told so', async () => {
  const { code, lines } = await reconcile(file, '--test')

  expect(code).toBe(1)
  expect(lines).toContain(
    'The ledger has nothing of the test account, and something of the live one: compare that without --test',
  )
})

test('what the banks have answered after the day that is compared was not answered on it', async () => {
  const askedFor = (text: string, id: string) => {
    const row = rowWith(text, ',charge,', id)
    return text.replace(row, row.replaceAll(/\d{4}-\d\d-\d\d(?= )/g, '2026-01-02'))
  }
  const path = await changed((text) => askedFor(askedFor(text, ids.collected), ids.refused))

  expect(await reconcile(path, '--until', '2026-01-02')).toMatchObject({
    code: 0,
    lines: [
      expect.stringMatching(/^charge GBP: 2 rows, 5750 pence/),
      'Not answered by the banks yet: 2 payments, 5750 pence',
      'In all GBP: 5750 pence in the file, 0 pence in the ledger',
      'No differences',
    ],
  })
})

test('while a file is read, everybody else sees what is stored meanwhile', async () => {
  const pipe = join(directory, 'pipe.csv')
  await promisify(execFile)('mkfifo', [pipe])
  const compared = reconcile(pipe)
  const writer = await open(pipe, 'w')
  const { rows } = await tables.pool.query(
    'select from pg_stat_activity where datname = current_database() and backend_xid is not null',
  )
  await writer.writeFile(await readFile(file))
  await writer.close()

  expect(rows).toEqual([])
  expect(await compared).toMatchObject({ code: 0 })
})

test.each<readonly [string, (text: string) => string, string]>([
  [
    'a column is missing',
    (text) => text.replace('reporting_category', 'category'),
    'The file lacks the columns reporting_category.',
  ],
  ['an amount is none', (text) => text.replace(',28.75,', ',much,'), 'Line 2: gross must be an amount such as 28.75.'],
  ['an amount is missing', (text) => text.replace(',28.75,', ',,'), 'Line 2: gross is missing.'],
  ['a column stands there twice', (text) => text.replace('fee,net', 'fee,gross'), 'columns gross more than once.'],
  ['there is nothing at all', () => '', 'The file is empty.'],
  ['a row is too short', (text) => `${text}txn_1,now\n`, 'The file is no CSV file: '],
])('where %s, nothing is compared', async (_title, change, message) => {
  const { code, lines, said } = await reconcile(await changed(change))

  expect({ code, lines }).toEqual({ code: 2, lines: [] })
  expect(said).toContain(message)
})

test('up to a day, a row without a time is not passed over', async () => {
  const path = await changed((text) => text.replace(/^(txn_\w+),[^,]+,/m, '$1,,'))

  const { code, said } = await reconcile(path, '--until', '2030-01-01')

  expect(code).toBe(2)
  expect(said).toContain('Line 2: created_utc is missing.')
})

test.each([
  [['reconcile', 'nowhere.csv', '--organisation', organisation_id], 'The file cannot be read: '],
  [['reconcile', 'nowhere.csv'], '--organisation must be the id of the organisation'],
  [['reconcile', 'x.csv', '--organisation', organisation_id, '--until', 'today'], '--until must be a date'],
  [
    ['reconcile', 'x.csv', '--organisation', '99999999-0000-4000-8000-000000000001'],
    'There is no organisation with the id',
  ],
  [['reconcile'], 'Name the FILE that is to be compared'],
  [['reconcile', 'one.csv', 'two.csv'], 'Name the FILE that is to be compared, and one alone.'],
  [['balance', 'x.csv'], 'Usage: npm run ledger'],
])('%j is not understood, and says why', async (words, message) => {
  const { code, said } = await run(...words)

  expect(code).toBe(2)
  expect(said).toContain(message)
})
