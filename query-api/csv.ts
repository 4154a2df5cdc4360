import { stringify } from 'csv-stringify/sync'
import { z } from 'zod'
import type { RequestFacts } from '#infra/http/route.ts'

/** The parameter by which a table can be asked for as a file; the header Accept does the same. */
export const format = z.enum(['json', 'csv']).optional().describe('csv: as a file; so does Accept: text/csv.')

export const wantsCsv = (asked: z.output<typeof format>, { header }: Pick<RequestFacts, 'header'>): boolean =>
  asked === undefined ? /\btext\/csv\b/i.test(header('accept') ?? '') : asked === 'csv'

type Cell = string | number | boolean | null

export type CsvRow = Readonly<Record<string, Cell>>

/** Texts are quoted; numbers are as they are. */
export const csvAnswer = (
  name: string,
  columns: readonly string[],
  rows: readonly CsvRow[],
  next_cursor: string | null = null,
) => {
  const lines = rows.map((row) => columns.map((column) => cell(row[column] ?? null)))
  return {
    status: 200 as const,
    body: new TextEncoder().encode(stringify([[...columns], ...lines], { quoted_string: true })),
    headers: {
      'Content-Type': 'text/csv; charset=utf-8',
      'Content-Disposition': `attachment; filename="${name}.csv"`,
      ...(next_cursor !== null && { 'X-Next-Cursor': next_cursor }),
    },
  }
}

// A spreadsheet would work out what begins so.
const formula = /^[=+\-@\t\r]/

const cell = (value: Cell): string | number | null => {
  if (typeof value === 'string' && formula.test(value)) return `'${value}`
  return typeof value === 'boolean' ? String(value) : value
}
