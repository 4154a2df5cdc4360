import {
  accounts,
  bookNamed,
  bookOf,
  type Account,
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
  return totalsOf(rows.map(({ document }) => document))
}

type Sums = { readonly currency_code: string; readonly test: boolean; readonly account: Account } & Readonly<
  Record<'debit' | 'credit', string>
>

/**
 * Sums posted to each account by events up to a position. An entry is never changed: what was posted later is taken off again,
 * which mostly is the smaller part.
 */
const totalsAt = async (
  pool: Database,
  organisation_id: string,
  position: string | undefined,
): Promise<LedgerAccount[]> => {
  const later = accounts.map((account) => `('${account}', ${account})`).join(', ')
  const { rows } = await pool.query<{ document: DayTotals | null } & Partial<Sums>>({
    text: `
      select document, null as currency_code, null as test, null as account, null as debit, null as credit
      from ledger where organisation_id = $1 and part = 'day'
      union all
      select null, currency_code, test, account, sum(greatest(pence, 0)), sum(greatest(-pence, 0))
      from ledger, lateral (values ${later}) as line (account, pence)
      where organisation_id = $1 and part = 'entry' and id > $2 and pence is not null
      group by currency_code, test, account`,
    // Of the entries of one event this is the last.
    values: [organisation_id, `${position ?? ''} premium`],
  })
  const takenOff = rows.flatMap(({ currency_code, test, account, debit, credit }) =>
    currency_code && account
      ? [{ [bookOf(currency_code, test ?? false)]: { [account]: [-Number(debit), -Number(credit)] } }]
      : [],
  )
  const totals = totalsOf([...rows.flatMap(({ document }) => (document ? [document] : [])), ...takenOff])
  return totals.filter(({ debit_pence, credit_pence }) => debit_pence > 0 || credit_pence > 0)
}

const totalsOf = (days: readonly DayTotals[]): LedgerAccount[] => {
  const books = new Map<string, Map<string, [debit: number, credit: number]>>()
  for (const day of days)
    for (const [book, sides] of Object.entries(day)) {
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

/** The trial balance of what was posted up to a position. */
export const trialBalanceAt = async (
  pool: Database,
  organisation_id: string,
  position: string | undefined,
): Promise<TrialBalance[]> => trialBalanceOf(await totalsAt(pool, organisation_id, position))
