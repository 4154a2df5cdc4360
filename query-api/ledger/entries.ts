import { z } from 'zod'
import { daysAfter } from '#domain/dates.ts'
import { accounts, type Account, type EntryDocument, type LedgerEntry } from '#domain/ledger/record.ts'
import { startOfDayIn } from '#domain/time-zone.ts'
import { cursorOf, CursorTime, readCursorAs } from '#infra/http/cursor.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { rowTypes } from '#infra/postgres/row-types.ts'
import { sql } from '#infra/postgres/postgres.ts'

export type Asked = {
  readonly organisation_id: string
  readonly from?: string | undefined
  readonly until?: string | undefined
  readonly account?: Account | undefined
  readonly policy_id?: string | undefined
  readonly premium_id?: string | undefined
  readonly payment_id?: string | undefined
  readonly limit: number
  readonly cursor?: string | undefined
}

type Row = Readonly<Record<Account, number | null>> &
  Pick<LedgerEntry, 'currency_code' | 'test' | 'posted_on' | 'policy_id' | 'premium_id' | 'payment_id'> & {
    readonly id: string
    readonly posted_at: string
    readonly document: EntryDocument
  }

const CursorContent = z.tuple([CursorTime, z.string().regex(/^[ -~]{1,200}$/)])

/** A page of entries, the newest first. */
export const entriesOf = async (
  pool: Database,
  asked: Asked,
): Promise<{ readonly data: LedgerEntry[]; readonly next_cursor: string | null }> => {
  const { organisation_id, from, until, account, policy_id, premium_id, payment_id, limit, cursor } = asked
  const timeZone = from === undefined && until === undefined ? 'UTC' : await timeZoneOf(pool, organisation_id)
  const place = cursor === undefined ? undefined : readCursorAs(cursor, CursorContent)
  const conditions = [
    ['policy_id = ', policy_id],
    ['premium_id = ', premium_id],
    ['payment_id = ', payment_id],
    ['posted_at >= ', from === undefined ? undefined : startOfDayIn(timeZone, from)],
    // After the last day that a date can name there is none.
    [
      'posted_at < ',
      until === undefined || until === '9999-12-31' ? undefined : startOfDayIn(timeZone, daysAfter(until, 1)),
    ],
  ].filter((each): each is [string, string] => each[1] !== undefined)
  // What is not asked for is left out, so that the right index is used.
  const wanted = conditions.map(([condition], index) => `and ${condition}$${index + 3}`)
  const values = [organisation_id, limit + 1, ...conditions.map(([, value]) => value), ...(place ?? [])]
  const before = place ? [`and (posted_at, id) < ($${values.length - 1}, $${values.length})`] : []
  const touched = account === undefined ? [] : [`and ${account} is not null`]
  const { rows } = await pool.query<Row>({
    text: `select id, currency_code, test, posted_at, posted_on, policy_id, premium_id, payment_id, document, ${accounts.join(', ')}
      from ledger where organisation_id = $1 and part = 'entry' ${[...wanted, ...touched, ...before].join(' ')}
      order by posted_at desc, id desc limit $2`,
    values,
    types: rowTypes,
  })
  const page = rows.slice(0, limit)
  const last = rows.length > limit ? page.at(-1) : undefined
  const next_cursor = last ? cursorOf([last.posted_at, last.id]) : null
  return { data: page.map(shown), next_cursor }
}

const shown = ({ id: _place, posted_at, document, ...row }: Row): LedgerEntry => {
  const { currency_code, test, posted_on, policy_id, premium_id, payment_id } = row
  const lines = accounts.flatMap((account) => {
    const pence = row[account]
    return pence === null ? [] : [{ account, debit_pence: Math.max(0, pence), credit_pence: Math.max(0, -pence) }]
  })
  const about = {
    currency_code,
    test,
    posted_at,
    posted_on,
    policy_id,
    premium_id,
    payment_id,
  }
  return { ...document, ...about, lines }
}

/** The organisation's time zone: dates begin at midnight there. */
const timeZoneOf = async (pool: Database, organisation_id: string): Promise<string> => {
  const { rows } = await pool.query<{ document: { readonly time_zone: string } }>(sql`
    select document from ledger
    where organisation_id = ${organisation_id} and part = 'organisation' and id = ${organisation_id}`)
  return rows[0]?.document.time_zone ?? 'UTC'
}
