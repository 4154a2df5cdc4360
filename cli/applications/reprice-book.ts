import { open, rm } from 'node:fs/promises'
import { stringify } from 'csv-stringify/sync'
import type { Pool } from 'pg'
import { money } from '#domain/money.ts'
import { OwnError } from '#domain/own-error.ts'
import type { Access } from '#infra/access-records/access.ts'
import { makeRecordAccess } from '#infra/access-records/recorder.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { newId } from '#infra/ids.ts'
import { isThere } from '#infra/kept-file.ts'
import { progressShown, type Output } from '#infra/shown-progress.ts'
import { compareBook, countQuotes, type Book, type Compared, type Draft } from './book.ts'
import { addTo, changeText, noTotals, percentOf, totalsText, type Totals } from './totals.ts'

/** Who asks, as accesses name them. */
type Asker = Pick<Access, 'actor_type' | 'actor_id'>

type Asked = {
  readonly book: Book
  readonly draft: Draft
  readonly asker: Asker
  /** A new file that names the differences in place of the output. */
  readonly csv: string | undefined
  /** The names of the conditions that were given. */
  readonly filters: readonly string[]
  /** The line above all others. */
  readonly title: string
}

type Repricing = {
  readonly pool: Pool
  readonly eventLog: Pick<EventLog, 'read'>
  readonly signal: AbortSignal
  readonly output: Output
  readonly progress: Output
}

/** Prices every quote of a book with a draft, and names each that would be another. Nothing is stored but who was shown it. */
export const repriceBook = async (asked: Asked, repricing: Repricing): Promise<Totals> => {
  const { book, draft, csv, title } = asked
  const { output, pool } = repricing
  const { currency_code } = draft.release
  const total = await countQuotes(pool, book)
  const totals = noTotals()
  await withWriter(csv, output, async (write) => {
    const record = makeRecordPage(asked, pool)
    const shown = progressShown('reprice', repricing.progress)
    await writeTo(output, title)
    if (csv !== undefined) await write(stringify([columns]))
    try {
      for await (const page of compareBook(book, draft, repricing)) {
        for (const each of page) addTo(totals, each)
        const differing = page.filter(isDifferent)
        if (differing.length > 0) {
          await record(differing)
          const lines = differing.map((each) => lineOf(each, currency_code))
          await write(csv === undefined ? lines.join('') : stringify(differing.map(rowOf)))
        }
        shown.report({ done: totals.quotes, total })
      }
    } finally {
      shown.end()
    }
  })
  output.write(totalsText(totals, currency_code))
  return totals
}

const isDifferent = ({ after }: Compared): boolean => after.outcome !== 'priced' || !after.isSame

/** Waits for whoever reads, so that nothing piles up. */
const writeTo = async (output: Output, text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    output.write(text, (error) => (error ? reject(error) : resolve()))
  })

const openNew = async (name: string) => {
  try {
    return await open(name, 'wx', 0o600)
  } catch (error) {
    if (!isThere(error)) throw error
    throw new OwnError(`${name} is there already, and is not written over. Name another file.`, { cause: error })
  }
}

const withWriter = async (
  csv: string | undefined,
  output: Output,
  work: (write: (text: string) => Promise<void>) => Promise<void>,
): Promise<void> => {
  if (csv === undefined) return work((text) => writeTo(output, text))
  const file = await openNew(csv)
  try {
    await work((text) => file.appendFile(text))
    await file.sync()
  } catch (error) {
    await rm(csv)
    throw error
  } finally {
    await file.close()
  }
}

/** It is recorded who is shown quotes before they are. */
const makeRecordPage = ({ book, asker, filters }: Asked, pool: Pool) => {
  const record = makeRecordAccess(pool)
  const request_id = newId()
  return async (page: readonly Compared[]): Promise<void> =>
    record({
      ...asker,
      id: newId(),
      organisation_id: book.organisation_id,
      method: 'COMMAND',
      route: 'npm run reprice',
      record_type: 'quote',
      record_ids: [...new Set(page.flatMap(({ quote_id, application_id }) => [quote_id, application_id]))],
      rows_shown: page.length,
      personal: 'opened',
      filters,
      request_id,
    })
}

const words = { decline: 'declined', refer: 'referred', postpone: 'postponed', erased: 'not priced: erased' } as const

const lineOf = ({ quote_id, before, after }: Compared, currency: string): string => {
  const said = (): string => {
    if (after.outcome === 'priced') {
      const terms = after.decision === before.decision ? '' : `, ${before.decision} → ${after.decision}`
      return `${changeText(before.premium_pence, after.premium_pence, currency)}${terms}`
    }
    const was = money(before.premium_pence, currency)
    if (after.outcome === 'no_price') return `${was} → no price: ${after.because}`
    if (after.outcome === 'unreadable') return `${was} → cannot be read: ${after.because}`
    return `${was} → ${words[after.outcome]}`
  }
  return `${quote_id} ${said()}\n`
}

const columns = [
  'quote_id',
  'application_id',
  'issued_at',
  'outcome',
  'because',
  'before_pence',
  'after_pence',
  'difference_pence',
  'difference_percent',
  'decision_before',
  'decision_after',
]

const rowOf = ({
  quote_id,
  application_id,
  issued_at,
  before,
  after,
}: Compared): readonly (string | number | null)[] => {
  const pence = after.outcome === 'priced' ? after.premium_pence : null
  return [
    quote_id,
    application_id,
    issued_at,
    after.outcome,
    'because' in after ? after.because : null,
    before.premium_pence,
    pence,
    pence === null ? null : pence - before.premium_pence,
    pence === null ? null : percentOf(before.premium_pence, pence),
    before.decision,
    after.outcome === 'priced' ? after.decision : null,
  ]
}
