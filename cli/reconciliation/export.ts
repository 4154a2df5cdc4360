import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import { z } from 'zod'
import { exactMoney } from '#domain/money.ts'

/** The file cannot be compared with anything: nothing is. */
export class BadInput extends Error {
  override readonly name = 'BadInput'
}

/** A movement at the provider, as in its export of balance transactions. */
export type Movement = {
  readonly category: string
  readonly currency_code: string
  readonly pence: number
  readonly fee_pence: number
  readonly payment_intent_id: string | null
  /** The payment, the refund or the dispute that moved it; undefined: it is none of these, such as a fee or a payout. */
  readonly what: string | undefined
  /** True for a payment by card, so that the banks have nothing to answer any more. */
  readonly is_card: boolean
  readonly created_at: string | null
}

const required = ['reporting_category', 'currency', 'gross', 'fee', 'source_id', 'payment_intent_id']

const CsvRow = z.object({
  record: z.record(z.string(), z.string().optional()),
  info: z.object({ lines: z.int() }),
})

/** The categories that the ledger has too. All others are summed. */
const ofPayments = ['charge', 'charge_failure', 'partial_capture_reversal']
const ofRefundsAndDisputes = ['refund', 'refund_failure', 'dispute', 'dispute_reversal']

type Row = Readonly<Record<string, string | undefined>>

const movementIn = (row: Row, line: number, needed: readonly string[]): Movement => {
  const text = (column: string): string => row[column]?.trim() ?? ''
  const missing = ['reporting_category', 'gross', ...needed].find((column) => text(column) === '')
  if (missing !== undefined) throw new BadInput(`Line ${line}: ${missing} is missing.`)
  const currency_code = text('currency').toUpperCase()
  if (!/^[A-Z]{3}$/.test(currency_code)) throw new BadInput(`Line ${line}: currency must be a code such as gbp.`)
  const amount = (column: string): number => {
    const decimal = text(column) || '0'
    const pence = /^-?\d{1,12}(\.\d+)?$/.test(decimal) ? exactMoney(decimal, currency_code) : undefined
    if (pence === undefined) throw new BadInput(`Line ${line}: ${column} must be an amount such as 28.75.`)
    return pence
  }
  const category = text('reporting_category')
  const payment_intent_id = text('payment_intent_id') || null
  const source = text('source_id')
  const what = ofPayments.includes(category)
    ? (payment_intent_id ?? source)
    : ofRefundsAndDisputes.includes(category)
      ? source
      : undefined
  if (what === '') throw new BadInput(`Line ${line}: source_id is missing.`)
  const created = text('created_utc')
  const created_at = created === '' ? null : `${created.replace(' ', 'T').slice(0, 19)}Z`
  if (created_at !== null && Number.isNaN(Date.parse(created_at)))
    throw new BadInput(`Line ${line}: created_utc must be a time such as 2026-07-01 09:00:00.`)
  const is_card = text('payment_method_type') === 'card'
  const moved = { category, currency_code, payment_intent_id, what, is_card, created_at }
  return { ...moved, pence: amount('gross'), fee_pence: amount('fee') }
}

/** Reads a file row by row: it may be larger than the memory. */
export const movementsIn = async function* (file: string, needed: readonly string[] = []): AsyncGenerator<Movement> {
  let headers = 0
  const columns = (header: readonly string[]) => {
    headers += 1
    const wanted = [...required, ...needed]
    const missing = wanted.filter((column) => !header.includes(column))
    if (missing.length > 0) throw new BadInput(`The file lacks the columns ${missing.join(', ')}.`)
    const twice = wanted.filter((column) => header.indexOf(column) !== header.lastIndexOf(column))
    if (twice.length > 0) throw new BadInput(`The file has the columns ${twice.join(', ')} more than once.`)
    return [...header]
  }
  const rows = parse({ bom: true, columns, info: true, skip_empty_lines: true })
  // What fails in between ends the rows with it.
  pipeline(createReadStream(file), rows, () => undefined)
  try {
    for await (const each of rows) {
      const { record, info } = CsvRow.parse(each)
      yield movementIn(record, info.lines, needed)
    }
    if (headers === 0) throw new BadInput('The file is empty.')
  } catch (error) {
    if (error instanceof CsvError) throw new BadInput(`The file is no CSV file: ${error.message}`)
    if (error instanceof Error && 'code' in error) throw new BadInput(`The file cannot be read: ${error.message}`)
    throw error
  }
}
