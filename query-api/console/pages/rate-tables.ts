import { z } from 'zod'
import { Dimension, RateTable } from '#domain/rating/events.ts'
import { lineChart } from '../chart.ts'
import type { List } from '../list.ts'
import { pageOf, type Page } from '../page.ts'
import { empty, facts, filters, link, moment, section, table, text, words } from '../show.ts'
import { h, type View } from '../view.ts'

const Version = RateTable.omit({ cells: true }).extend({ cell_count: z.number(), published_at: z.string() })
const PublishedTable = RateTable.extend({ published_at: z.string() })

export const rateTables: List<typeof Version> = {
  title: 'Rate tables',
  path: 'rate_tables',
  api: '/admin/v1/rate_tables',
  item: Version,
  filters: [{ name: 'key', label: 'Key' }],
  none: 'No rate table is published yet. The set-up file names them.',
  columns: (organisation_id) => [
    {
      title: 'Rate table',
      show: ({ key, version }) =>
        link(pageOf(organisation_id, `rate_tables/${key}/versions/${version}`), `${key}, version ${version}`),
    },
    { title: 'By', show: ({ dimensions }) => dimensions.join(', ') },
    { title: 'Rates', show: ({ cell_count }) => cell_count.toLocaleString('en-GB'), isNumber: true },
    { title: 'Published', show: ({ published_at }) => moment(published_at) },
  ],
}

const mostRows = 200

type Row = { readonly at: readonly string[]; readonly rate: number }

const shownValue = (dimension: Dimension, value: string): string => {
  if (dimension !== 'smoker') return value
  return value === 's' ? 'yes' : 'no'
}

/** The rates at the values that an address asks for. */
const rowsAt = ({ dimensions, cells }: z.infer<typeof PublishedTable>, { searchParams }: URL): readonly Row[] => {
  const asked = dimensions.map((dimension) => searchParams.get(dimension) ?? '')
  return Object.entries(cells)
    .map(([key, rate]) => ({ at: key.split('|'), rate }))
    .filter(({ at }) => asked.every((wanted, index) => wanted === '' || at[index] === wanted))
}

/** All that occurs where there are few values, such as smoker; others are typed. */
const choicesFor = (dimension: Dimension, values: readonly string[]) =>
  dimension === 'smoker' || dimension === 'variant'
    ? { choices: values.map((each) => [each, words(shownValue(dimension, each))] as const) }
    : {}

const ratesView = (dimensions: readonly Dimension[], rows: readonly Row[]): View => {
  if (rows.length === 0) return empty('The table has no rate there.')
  const columns = [
    ...dimensions.map((dimension, index) => ({
      title: words(dimension).replace(/^./, (first) => first.toUpperCase()),
      show: ({ at }: Row) => shownValue(dimension, at[index] ?? ''),
    })),
    { title: 'Rate', show: ({ rate }: Row) => rate.toLocaleString('en-GB'), isNumber: true as const },
    { title: 'Pence a month for £1,000', show: ({ rate }: Row) => (rate / 10_000).toFixed(4), isNumber: true as const },
  ]
  return [
    table('Rates', columns, rows.slice(0, mostRows)),
    rows.length > mostRows &&
      h(
        'p',
        { class: 'quiet' },
        `These are the first ${mostRows} of ${rows.length.toLocaleString('en-GB')}. Say where, to see others.`,
      ),
  ]
}

const across: readonly string[] = ['age', 'term'] satisfies readonly Dimension[]
const mostLines = 6

const pence = (rate: number): string => `${(rate / 10_000).toFixed(2)}p`

/** The rates over age, or over term, for each value of another dimension. Those that are left stay at their middle value. */
const chartOf = ({ dimensions, cells }: z.infer<typeof PublishedTable>, { searchParams }: URL): View => {
  const isAsked = (dimension: Dimension) => (searchParams.get(dimension) ?? '') !== ''
  const over = dimensions.findIndex((dimension) => across.includes(dimension) && !isAsked(dimension))
  if (over === -1) return null
  const keys = Object.keys(cells).map((key) => key.split('|'))
  const valuesOf = (index: number) =>
    [...new Set(keys.map((key) => key[index] ?? ''))].toSorted((one, other) => Number(one) - Number(other))
  const apart = dimensions.findIndex((dimension) => !across.includes(dimension) && !isAsked(dimension))
  const fixed = dimensions.map((dimension, index) => {
    const values = valuesOf(index)
    return isAsked(dimension) ? (searchParams.get(dimension) ?? '') : (values[Math.floor(values.length / 2)] ?? '')
  })
  const labels = valuesOf(over)
  const lines = apart === -1 ? [''] : valuesOf(apart).slice(0, mostLines)
  const rateAt = (line: string, label: string): number | null =>
    cells[fixed.map((value, index) => (index === over ? label : index === apart ? line : value)).join('|')] ?? null
  const said = dimensions.flatMap((dimension, index) =>
    index === over || index === apart ? [] : [`${dimension} ${shownValue(dimension, fixed[index] ?? '')}`],
  )
  const name = dimensions[over] ?? 'age'
  const of = dimensions[apart]
  return lineChart({
    title: `Rates by ${name}`,
    description: ['Pence a month for each £1,000', ...said].join(', '),
    x: { title: name.replace(/^./, (first) => first.toUpperCase()), labels },
    y: { title: 'Pence a month', show: pence },
    series: lines.map((line) => ({
      title: of === undefined ? 'Rate' : `${of} ${shownValue(of, line)}`,
      values: labels.map((label) => rateAt(line, label)),
    })),
  })
}

/** A version of a rate table with its rates, at the values that are asked for. */
export const rateTablePage: Page = {
  address: '/console/organisations/:organisation_id/rate_tables/:key/versions/:version',
  show: async ({ organisation, path, url, read }) => {
    const address = `/admin/v1/rate_tables/${path['key'] ?? ''}/versions/${path['version'] ?? ''}`
    const { data } = await read(
      `${address}?organisation_id=${organisation?.id ?? ''}`,
      z.object({ data: PublishedTable }),
    )
    const keys = Object.keys(data.cells).map((key) => key.split('|'))
    const valuesOf = (index: number) => [...new Set(keys.map((key) => key[index] ?? ''))].toSorted()
    const asked = data.dimensions.map((dimension, index) => ({
      name: dimension,
      label: words(dimension).replace(/^./, (first) => first.toUpperCase()),
      ...choicesFor(dimension, valuesOf(index)),
    }))
    return {
      title: `${data.key}, version ${data.version}`,
      main: [
        facts([
          ['By', data.dimensions.join(', ')],
          ['Rates', keys.length.toLocaleString('en-GB')],
          ['Currency', data.currency_code],
          ['Published', moment(data.published_at)],
          ['Source', text(data.source_note)],
        ]),
        section(
          'Rates',
          h('p', { class: 'quiet' }, 'Ten-thousandths of a penny a month for each £1,000.'),
          filters(url, asked),
          chartOf(data, url),
          ratesView(data.dimensions, rowsAt(data, url)),
        ),
      ],
    }
  },
}
