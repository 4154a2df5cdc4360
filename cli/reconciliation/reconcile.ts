import type { Pool, PoolClient } from 'pg'
import { dateIn } from '#domain/time-zone.ts'
import { bigints, texts } from '#infra/postgres/arrays.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { BadInput, movementsIn, type Movement } from './export.ts'

export type Asked = {
  readonly organisation_id: string
  readonly test: boolean
  /** The last day that is compared, where the organisation is. */
  readonly until: string | undefined
}

type Output = { readonly write: (text: string) => unknown }

type Sums = { rows: number; pence: number; fee_pence: number }

const rowsAtOnce = 5_000

/**
 * Compares an export of the provider with the ledger, payment by payment, refund by refund and dispute by dispute. Both sides lie in
 * a table of the connection meanwhile, so that neither need fit into memory; it is filled by many short statements, since what others
 * store is read by nobody while a transaction that has written is open. The exit code: 0 where they are equal, else 1.
 */
export const reconcile = async (pool: Pool, file: string, asked: Asked, output: Output): Promise<0 | 1> => {
  const db = await pool.connect()
  try {
    const timeZone = await timeZoneOf(db, asked)
    await db.query(`
      create temporary table moved (
        what text, payment text, payment_id text, currency text, is_card boolean,
        in_file bigint not null, in_ledger bigint not null
      );
      create temporary table refused_later (payment text)`)
    const sums = await readFile(db, file, asked, timeZone)
    await readLedger(db, asked)
    const write = (line: string) => output.write(`${line}\n`)
    const found = await tellDifferences(db, asked, write)
    tellSums(sums, write)
    await tellOtherMode(db, asked, write)
    await tellTotals(db, found, write)
    return found.differences === 0 ? 0 : 1
  } finally {
    // With the connection its tables go.
    db.release(true)
  }
}

const timeZoneOf = async (db: PoolClient, { organisation_id }: Asked): Promise<string> => {
  const { rows } = await db.query<{ time_zone: string }>(sql`
    select document ->> 'time_zone' as time_zone from ledger
    where organisation_id = ${organisation_id} and part = 'organisation' and id = ${organisation_id}`)
  const [found] = rows
  if (!found) throw new BadInput(`There is no organisation with the id ${organisation_id} in the ledger.`)
  return found.time_zone
}

const readFile = async (
  db: PoolClient,
  file: string,
  { until }: Asked,
  timeZone: string,
): Promise<ReadonlyMap<string, Sums>> => {
  const sums = new Map<string, Sums>()
  let waiting: (Movement & { readonly what: string })[] = []
  let refusedLater: string[] = []
  const flush = async (): Promise<void> => {
    await db.query('insert into refused_later select * from unnest($1::text[])', [texts(refusedLater)])
    const all = waiting
    refusedLater = []
    waiting = []
    await db.query(
      `insert into moved (what, payment, currency, is_card, in_file, in_ledger)
       select what, payment, currency, is_card, pence, 0
       from unnest($1::text[], $2::text[], $3::text[], $4::boolean[], $5::bigint[])
         as sent (what, payment, currency, is_card, pence)`,
      [
        texts(all.map(({ what }) => what)),
        texts(all.map((each) => each.payment_intent_id)),
        texts(all.map((each) => each.currency_code)),
        all.map((each) => each.is_card),
        bigints(all.map(({ pence }) => pence)),
      ],
    )
  }
  for await (const each of movementsIn(file, until === undefined ? [] : ['created_utc'])) {
    const { category, currency_code, pence, fee_pence, what, created_at } = each
    const isLater = until !== undefined && created_at !== null && dateIn(timeZone, created_at) > until
    if (waiting.length + refusedLater.length >= rowsAtOnce) await flush()
    if (isLater && what !== undefined && category === 'charge_failure') refusedLater.push(what)
    if (isLater) continue
    const name = `${category} ${currency_code}`
    const sum = sums.get(name) ?? { rows: 0, pence: 0, fee_pence: 0 }
    sums.set(name, { rows: sum.rows + 1, pence: sum.pence + pence, fee_pence: sum.fee_pence + fee_pence })
    if (what !== undefined) waiting.push({ ...each, what })
  }
  await flush()
  return sums
}

/**
 * The postings that move the account `provider_balance`. Of refunds and disputes that former versions have stored, the
 * provider's names are not known: such a payment is compared as a whole, with all of its refunds and disputes.
 */
const readLedger = async (db: PoolClient, { organisation_id, test, until }: Asked): Promise<void> => {
  let after = { posted_at: '-infinity', id: '' }
  for (;;) {
    // What was posted by the end of that day was so wherever the organisation was: the index knows where to stop.
    const { rows } = await db.query<typeof after>(sql`
      with page as (
        select id, posted_at, document, payment_id, currency_code, provider_balance, test, posted_on from ledger
        where organisation_id = ${organisation_id} and provider_balance is not null
          and (posted_at, id) > (${after.posted_at}::timestamptz, ${after.id})
          and posted_at < ${until ?? 'infinity'}::date + 3
        order by posted_at, id limit ${rowsAtOnce}
      ), read as (
        insert into moved (what, payment, payment_id, currency, in_file, in_ledger)
        select case
            when page.document ->> 'kind' in ('refund_made', 'refund_failed') then page.document ->> 'provider_refund_id'
            when page.document ->> 'kind' like 'dispute%' then page.document ->> 'provider_dispute_id'
            else named.payment
          end, named.payment, page.payment_id, page.currency_code, 0, page.provider_balance
        from page
        left join ledger as known
          on known.organisation_id = ${organisation_id} and known.part = 'payment' and known.id = page.payment_id::text
        cross join lateral (
          select coalesce(page.document ->> 'payment_intent_id', known.document ->> 'payment_intent_id',
            'payment ' || page.payment_id) as payment) as named
        where page.test = ${test} and page.posted_on <= ${until ?? 'infinity'}::date
      ) select posted_at::text, id from page order by page.posted_at desc, id desc limit 1`)
    const [last] = rows
    if (!last) break
    after = last
  }
  await db.query('analyze moved')
}

type Difference = {
  readonly what: string
  readonly payment: string | null
  readonly payment_id: string | null
  readonly currency: string
  readonly in_file: string
  readonly in_ledger: string
  readonly is_open: boolean
}
type Found = { readonly differences: number; readonly open: number; readonly open_pence: number }

const tellDifferences = async (
  db: PoolClient,
  { organisation_id, until }: Asked,
  write: (line: string) => void,
): Promise<Found> => {
  await db.query(sql`
    declare differences cursor with hold for
    with whole as (
      select distinct payment from moved where what is null
    ), compared as (
      select case when whole.payment is null then what else moved.payment end as what, moved.payment, payment_id, currency, is_card,
        in_file, in_ledger
      from moved left join whole on whole.payment = moved.payment
    ), different as (
      select what, currency, max(payment) as payment, bool_or(is_card) as is_card,
        sum(in_file) as in_file, sum(in_ledger) as in_ledger
      from compared group by what, currency having sum(in_file) <> sum(in_ledger)
    ), known as (
      select payment, max(payment_id) as payment_id from moved group by payment
    ), unanswered as (
      select payment as what from refused_later
      union
      select document ->> 'payment_intent_id' from ledger
      where organisation_id = ${organisation_id} and is_open and part = 'payment'
      union
      select attempt.value ->> 'payment_intent_id' from ledger, json_each(document -> 'attempts') as attempt
      where organisation_id = ${organisation_id} and is_open and part = 'premium' and attempt.value ->> 'is_open' = 'true'
      union
      select document ->> 'payment_intent_id' from ledger
      where organisation_id = ${organisation_id} and part = 'entry' and provider_balance is not null
        and posted_on > ${until ?? 'infinity'}::date and document ->> 'kind' = 'payment_received'
    )
    select what, currency, payment, payment_id, in_file, in_ledger,
      is_card is not true and unanswered.what is not null as is_open
    from different left join known using (payment) left join unanswered using (what) order by what, currency`)
  let found: Found = { differences: 0, open: 0, open_pence: 0 }
  for (;;) {
    const { rows } = await db.query<Difference>('fetch 1000 from differences')
    for (const each of rows) {
      // A debit is in the balance from the day on which it is asked for: it goes again when the banks refuse it.
      const isUnderWay = each.is_open && each.in_ledger === '0'
      if (isUnderWay) found = { ...found, open: found.open + 1, open_pence: found.open_pence + Number(each.in_file) }
      else {
        found = { ...found, differences: found.differences + 1 }
        write(sentenceOf(each))
      }
    }
    if (rows.length === 0) return found
  }
}

const sentenceOf = ({ what, payment, payment_id, currency, in_file, in_ledger }: Difference): string => {
  const of = payment === null || payment === what ? '' : ` of ${payment}`
  const known = payment_id === null ? '' : ` (payment_id ${payment_id})`
  return `${kindOf(what)}${what}${of} ${currency}: ${in_file} pence in the file, ${in_ledger} pence in the ledger${known}`
}

const kindOf = (what: string): string => {
  if (what.startsWith('pi_')) return 'payment '
  if (/^(re|pyr)_/.test(what)) return 'refund '
  return /^(dp|du)_/.test(what) ? 'dispute ' : ''
}

const tellSums = (sums: ReadonlyMap<string, Sums>, write: (line: string) => void): void => {
  const sorted = [...sums].toSorted(([one], [other]) => (one < other ? -1 : 1))
  for (const [name, { rows, pence, fee_pence }] of sorted)
    write(`${name}: ${rows} ${rows === 1 ? 'row' : 'rows'}, ${pence} pence, fees ${fee_pence} pence`)
}

/** Payments in the other mode are no part of it: mostly, `--test` was forgotten. */
const tellOtherMode = async (
  db: PoolClient,
  { organisation_id, test }: Asked,
  write: (line: string) => void,
): Promise<void> => {
  const { rows } = await db.query<{ is_other: boolean }>(sql`
    select not exists (select from moved where payment_id is not null) and exists (
      select from ledger
      where organisation_id = ${organisation_id} and part = 'entry' and provider_balance is not null and test <> ${test}
    ) as is_other`)
  if (rows[0]?.is_other)
    write(
      test
        ? 'The ledger has nothing of the test account, and something of the live one: compare that without --test'
        : 'The ledger has nothing of the live account, and something of the test account: compare that with --test',
    )
}

const tellTotals = async (
  db: PoolClient,
  { differences, open, open_pence }: Found,
  write: (line: string) => void,
): Promise<void> => {
  if (open > 0)
    write(`Not answered by the banks yet: ${open} ${open === 1 ? 'payment' : 'payments'}, ${open_pence} pence`)
  const { rows } = await db.query<{ currency: string; in_file: string; in_ledger: string }>(`
    select currency, sum(in_file) as in_file, sum(in_ledger) as in_ledger from moved group by currency order by currency`)
  for (const { currency, in_file, in_ledger } of rows)
    write(`In all ${currency}: ${in_file} pence in the file, ${in_ledger} pence in the ledger`)
  if (rows.length === 0) write('Neither the file nor the ledger has a payment, a refund or a dispute')
  write(differences === 0 ? 'No differences' : `${differences} ${differences === 1 ? 'difference' : 'differences'}`)
}
