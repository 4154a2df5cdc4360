import {
  accounts,
  bookNamed,
  bookOf,
  type DayTotals,
  type LedgerAccount,
  type TrialBalance,
} from '#domain/ledger/record.ts'
import { sumOf } from '#domain/money.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'

/** Sums posted to each account up to a date, from a day's few rows: entries are not looked at. */
export const totalsUpTo = async (
  pool: Database,
  organisation_id: string,
  as_of: string | undefined,
): Promise<LedgerAccount[]> => {
  const { rows } = await pool.query<{ document: DayTotals }>(sql`
    select document from ledger
    where organisation_id = ${organisation_id} and part = 'day' and posted_on <= ${as_of ?? 'infinity'}::date`)
  const books = new Map<string, Map<string, [debit: number, credit: number]>>()
  for (const { document } of rows)
    for (const [book, sides] of Object.entries(document)) {
      const sums = books.get(book) ?? new Map<string, [number, number]>()
      books.set(book, sums)
      for (const [account, [debit, credit]] of Object.entries(sides)) {
        const [debits, credits] = sums.get(account) ?? [0, 0]
        sums.set(account, [debits + debit, credits + credit])
      }
    }
  return [...books]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([book, sums]) =>
      accounts.flatMap((account) => {
        const [debit_pence, credit_pence] = sums.get(account) ?? []
        if (debit_pence === undefined || credit_pence === undefined) return []
        return [{ account, ...bookNamed(book), debit_pence, credit_pence, balance_pence: debit_pence - credit_pence }]
      }),
    )
}

/** The balance of each account on the side where it stands. */
export const trialBalanceOf = (totals: readonly LedgerAccount[]): TrialBalance[] => {
  const books = Map.groupBy(totals, ({ currency_code, test }) => bookOf(currency_code, test))
  return [...books.values()].flatMap((of) => {
    const [first] = of
    if (!first) return []
    const { currency_code, test } = first
    const balances = of.map(({ account, balance_pence }) => ({
      account,
      debit_pence: Math.max(0, balance_pence),
      credit_pence: Math.max(0, -balance_pence),
    }))
    const debit_pence = sumOf(balances, (each) => each.debit_pence)
    const credit_pence = sumOf(balances, (each) => each.credit_pence)
    const balanced = debit_pence === credit_pence
    return [{ currency_code, test, accounts: balances, debit_pence, credit_pence, balanced }]
  })
}
