import { Dimension, type RateCells, type RateTable } from './events.ts'

/** Something wrong in a file: the line counts from 1, the column is the one of the header, or its place without one. */
export type CsvFault = { readonly line: number; readonly column: string; readonly message: string }

type RateCsv = { readonly dimensions: Dimension[]; readonly cells: RateCells }

const wholeNumber = /^(0|[1-9]\d{0,14})$/

/** A table by age, term and smoker has some 5,000; one by a variant, too, so many times more. */
export const mostRates = 50_000

/** Reads `age,term,smoker,rate_e4`; the columns before the rate are the table's dimensions. Says all that is wrong. */
export const parseRateCsv = (text: string): RateCsv | { readonly faults: readonly CsvFault[] } => {
  const [header = '', ...lines] = text.split(/\r?\n/)
  while (lines.at(-1) === '') lines.pop()

  // Trimming also takes away the byte order mark that spreadsheets put first.
  const columns = header.split(',').map((column) => column.trim())
  const dimensions = columns.slice(0, -1).flatMap((column) => Dimension.safeParse(column).data ?? [])
  const headerFaults = faultsOfHeader(columns, dimensions)
  if (headerFaults.length > 0) return { faults: headerFaults }
  if (lines.length === 0) return { faults: [{ line: 2, column: columns[0] ?? '', message: 'there are no rates' }] }
  if (lines.length > mostRates)
    return {
      faults: [
        {
          line: mostRates + 2,
          column: columns[0] ?? '',
          message: `a table has at most ${mostRates} rates, and this one ${lines.length}: make a table of each variant, and name it after the answer, as ip.to65.d{deferred_weeks}`,
        },
      ],
    }

  const faults: CsvFault[] = []
  const cells: RateCells = {}
  const lineOf = new Map<string, number>()

  lines.forEach((content, index) => {
    const line = index + 2
    const fields = content.split(',').map((field) => field.trim())
    const found = faultsOfLine(line, columns, fields)
    const key = fields.slice(0, -1).join('|')
    const earlier = lineOf.get(key)
    if (found.length === 0 && earlier !== undefined)
      found.push({ line, column: columns[0] ?? '', message: `line ${earlier} has a rate for the same cell` })
    faults.push(...found)
    if (found.length > 0) return

    lineOf.set(key, line)
    cells[key] = Number(fields.at(-1))
  })
  return faults.length > 0 ? { faults } : { dimensions, cells }
}

const faultsOfHeader = (columns: readonly string[], dimensions: readonly Dimension[]): CsvFault[] => {
  const expected = 'the first line names the columns: some of age, term, smoker and variant in this order, then rate_e4'
  const order = Dimension.options
  return columns.flatMap((column, index) => {
    const isLast = index === columns.length - 1
    const earlier = dimensions[index - 1]
    const fits = isLast
      ? column === 'rate_e4' && index > 0
      : column === dimensions[index] &&
        (earlier === undefined || order.indexOf(earlier) < order.indexOf(dimensions[index]))
    return fits ? [] : [{ line: 1, column: column || String(index + 1), message: `is out of place: ${expected}` }]
  })
}

const faultsOfLine = (line: number, columns: readonly string[], fields: readonly string[]): CsvFault[] => {
  if (fields.length !== columns.length) {
    const column = columns[fields.length] ?? String(columns.length + 1)
    return [{ line, column, message: `the line has ${fields.length} fields, the header ${columns.length}` }]
  }
  return columns.flatMap((column, index) => {
    const field = fields[index] ?? ''
    const expected = expectation(column, field)
    return expected === undefined ? [] : [{ line, column, message: `must be ${expected}, not “${field}”` }]
  })
}

/** The expected form of a field that lacks it. */
const expectation = (column: string, field: string): string | undefined => {
  const isWithin = (min: number, max: number) => wholeNumber.test(field) && Number(field) >= min && Number(field) <= max
  switch (column) {
    case 'age':
      return isWithin(0, 120) ? undefined : 'a whole number from 0 to 120'
    case 'term':
      return isWithin(1, 100) ? undefined : 'a whole number from 1 to 100'
    case 'smoker':
      return field === 'n' || field === 's' ? undefined : 'n or s'
    case 'variant':
      return /^[a-zA-Z0-9][\w.-]{0,99}$/.test(field) ? undefined : 'a letter or digit, then letters, digits, _, . and -'
    default:
      return isWithin(1, Number.MAX_SAFE_INTEGER) ? undefined : 'a whole number above 0, in ten-thousandths of a penny'
  }
}

const collator = new Intl.Collator('en', { numeric: true })

/** One line for each cell, by age, term, smoker and variant: the same cells always make the same text. */
export const toRateCsv = ({ dimensions, cells }: Pick<RateTable, 'dimensions' | 'cells'>): string => {
  const lines = Object.entries(cells)
    .map(([key, rate]) => ({ fields: key.split('|'), rate }))
    .toSorted(
      (a, b) => a.fields.map((field, index) => collator.compare(field, b.fields[index] ?? '')).find(Boolean) ?? 0,
    )
    .map(({ fields, rate }) => [...fields, rate].join(','))
  return [[...dimensions, 'rate_e4'].join(','), ...lines, ''].join('\n')
}
