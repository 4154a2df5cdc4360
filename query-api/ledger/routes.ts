import { z } from 'zod'
import { Account, LedgerAccount, LedgerEntry, TrialBalance } from '#domain/ledger/record.ts'
import { PaymentId } from '#domain/payments/events.ts'
import { PremiumId } from '#domain/premiums/events.ts'
import { CalendarDate, OrganisationId, PolicyId } from '#domain/values.ts'
import { impersonalRoute, route, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { pageParameters } from '../page.ts'
import { csvAnswer, format, wantsCsv } from '../csv.ts'
import { entriesOf } from './entries.ts'
import { totalsUpTo, trialBalanceOf } from './totals.ts'

const ofLedger = {
  method: 'get',
  ...impersonalRoute('finance'),
  path: z.object({ organisation_id: OrganisationId }),
  alsoAs: 'text/csv',
} as const

const as_of = CalendarDate.optional().describe(
  'At the end of this day, where the organisation is; all there is by default.',
)
const shownAsOf = CalendarDate.nullable()

const EntriesQuery = z.object({
  from: CalendarDate.optional().describe('From this day on, where the organisation is.'),
  until: CalendarDate.optional().describe('Up to this day, which is included.'),
  account: Account.optional(),
  policy_id: PolicyId.optional(),
  premium_id: PremiumId.optional(),
  payment_id: PaymentId.optional(),
  format,
  ...pageParameters,
})

const accountColumns = ['account', 'currency_code', 'test', 'debit_pence', 'credit_pence', 'balance_pence']
const balanceColumns = ['account', 'currency_code', 'test', 'debit_pence', 'credit_pence']
/** A line for each account, and one for the total of each currency. */
export const trialBalanceFile = (data: readonly TrialBalance[]) => {
  const rows = data.flatMap(({ accounts, balanced: _balanced, ...totals }) => [
    ...accounts.map((each) => ({ ...totals, ...each })),
    { ...totals, account: 'total' },
  ])
  return csvAnswer('trial_balance', balanceColumns, rows)
}

const entryColumns = [
  'id',
  'kind',
  'posted_on',
  'posted_at',
  'account',
  'debit_pence',
  'credit_pence',
  'currency_code',
  'test',
  'policy_id',
  'premium_id',
  'payment_id',
  'payment_intent_id',
  'provider_refund_id',
  'provider_dispute_id',
  'event_id',
]

/** The ledger, for the operator. */
export const ledgerRoutes = ({ pool }: { readonly pool: Database }): Route[] => [
  route(
    {
      ...ofLedger,
      address: '/admin/v1/organisations/:organisation_id/ledger/accounts',
      summary: 'Show the accounts of the ledger with their balances',
      query: z.object({ as_of, format }),
      answers: { 200: z.object({ as_of: shownAsOf, data: z.array(LedgerAccount) }) },
    },
    async ({ path: { organisation_id }, query: { as_of: date, format: asked }, header }) => {
      const data = await totalsUpTo(pool, organisation_id, date)
      if (wantsCsv(asked, { header })) return csvAnswer('accounts', accountColumns, data)
      return { status: 200, body: { as_of: date ?? null, data } }
    },
  ),
  route(
    {
      ...ofLedger,
      address: '/admin/v1/organisations/:organisation_id/ledger/entries',
      summary: 'List the entries of the ledger with their lines, newest first',
      query: EntriesQuery,
      answers: { 200: z.object({ data: z.array(LedgerEntry), next_cursor: z.string().nullable() }) },
    },
    async ({ path, query: { format: asked, ...wanted }, header }) => {
      const { data, next_cursor } = await entriesOf(pool, { ...path, ...wanted })
      if (!wantsCsv(asked, { header })) return { status: 200, body: { data, next_cursor } }
      const rows = data.flatMap(({ lines, ...entry }) => lines.map((line) => ({ ...entry, ...line })))
      return csvAnswer('entries', entryColumns, rows, next_cursor)
    },
  ),
  route(
    {
      ...ofLedger,
      address: '/admin/v1/organisations/:organisation_id/ledger/trial_balance',
      summary: 'Show that debits and credits are equal',
      query: z.object({ as_of, format }),
      answers: { 200: z.object({ as_of: shownAsOf, balanced: z.boolean(), data: z.array(TrialBalance) }) },
    },
    async ({ path: { organisation_id }, query: { as_of: date, format: asked }, header }) => {
      const data = trialBalanceOf(await totalsUpTo(pool, organisation_id, date))
      if (!wantsCsv(asked, { header }))
        return { status: 200, body: { as_of: date ?? null, balanced: data.every(({ balanced }) => balanced), data } }
      return trialBalanceFile(data)
    },
  ),
]
