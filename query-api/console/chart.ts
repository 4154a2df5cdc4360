import { scaleBand, scaleLinear, scalePoint } from 'd3-scale'
import { line, stack } from 'd3-shape'
import { link, table, type Column } from './show.ts'
import { h, s, type View } from './view.ts'

/** One row of values: a line, or a part of each bar. */
export type Series = {
  readonly title: string
  /** By label of the chart; null where nothing is known. */
  readonly values: readonly (number | null)[]
  /** The list of all that it counts. */
  readonly list?: string
  /** The list of those that the value at a label counts. */
  readonly listAt?: (at: number) => string
}

export type Chart = {
  readonly title: string
  readonly description: string
  readonly x: { readonly title: string; readonly labels: readonly string[] }
  readonly y: { readonly title: string; readonly show: (value: number) => string }
  readonly series: readonly Series[]
}

const width = 400
const height = 220
const plot = { left: 52, right: width - 8, top: 16, bottom: height - 34 }
const labelsMost = 7
const colours = 8

/** A length or place in a drawing. */
const unit = (length: number): string => String(Math.round(length * 100) / 100)

type Anchor = 'start' | 'middle' | 'end'

const written = (text: string, x: number, y: number, textAnchor: Anchor = 'start'): View =>
  s('text', { x: unit(x), y: unit(y), textAnchor }, text)

const colour = (at: number): string => `series-${at % colours}`

const idOf = (title: string): string => `chart-${title.toLowerCase().replaceAll(/[^a-z\d]+/g, '-')}`

/** A mark that leads to what it counts. The keyboard reaches the same links in the table, and so need not pass each mark. */
const marked = (said: string, list: string | undefined, mark: View): View => {
  const title = s('title', {}, said)
  return list === undefined
    ? s('g', {}, title, mark)
    : s('a', { href: list, tabIndex: -1, ariaLabel: said }, title, mark)
}

const scaleOf = (values: readonly number[]) =>
  scaleLinear()
    .domain([0, Math.max(1, ...values)])
    .nice(4)
    .range([plot.bottom, plot.top])

/** Lines and labels of both axes. */
const axes = ({ x, y, series }: Chart, places: readonly number[], scale: ReturnType<typeof scaleOf>): View => {
  const isWhole = series.every(({ values }) => values.every((value) => Number.isInteger(value ?? 0)))
  const ticks = scale.ticks(4).filter((tick) => !isWhole || Number.isInteger(tick))
  const every = Math.ceil(x.labels.length / labelsMost)
  return [
    written(y.title, 2, 9),
    ticks.map((tick) => [
      s('line', {
        class: 'rule',
        x1: unit(plot.left),
        x2: unit(plot.right),
        y1: unit(scale(tick)),
        y2: unit(scale(tick)),
      }),
      written(y.show(tick), plot.left - 4, scale(tick) + 4, 'end'),
    ]),
    x.labels.map((label, at) => at % every === 0 && written(label, places[at] ?? 0, plot.bottom + 14, 'middle')),
    written(x.title, (plot.left + plot.right) / 2, height - 4, 'middle'),
  ]
}

const drawing = (title: string, description: string, tall: number, ...marks: View[]): View => {
  const id = idOf(title)
  return s(
    'svg',
    {
      viewBox: `0 0 ${width} ${tall}`,
      role: 'group',
      ariaLabelledBy: [`${id}-title`],
      ariaDescribedBy: [`${id}-about`],
    },
    s('title', { id: `${id}-title` }, title),
    s('desc', { id: `${id}-about` }, description),
    marks,
  )
}

const keyOf = (series: readonly Series[], isLine: boolean): View =>
  h(
    'ul',
    { class: 'key' },
    series.map(({ title, list }, at) =>
      h(
        'li',
        {},
        s(
          'svg',
          { viewBox: '0 0 24 10', ariaHidden: 'true' },
          isLine
            ? s('path', { class: ['line', colour(at)], d: 'M0 5H24' })
            : s('rect', { class: ['mark-of-value', colour(at)], width: 24, height: 10 }),
        ),
        list === undefined ? title : link(list, title),
      ),
    ),
  )

/** The same figures for whoever cannot see the drawing, or wants the numbers. */
const figures = ({ title, x, y, series }: Chart): View => {
  const columns: readonly Column<number>[] = [
    { title: x.title, show: (at) => x.labels[at] },
    ...series.map(({ title: named, values, listAt }) => ({
      title: named,
      isNumber: true as const,
      show: (at: number) => {
        const value = values[at] ?? null
        if (value === null) return '–'
        return listAt ? link(listAt(at), y.show(value)) : y.show(value)
      },
    })),
  ]
  return h(
    'details',
    { class: 'figures' },
    h('summary', {}, 'As a table'),
    table(
      title,
      columns,
      x.labels.map((_label, at) => at),
    ),
  )
}

const figure = (title: string, description: string, ...parts: View[]): View =>
  h(
    'figure',
    { class: 'chart' },
    h('figcaption', {}, h('h3', {}, title), h('p', { class: 'quiet small' }, description)),
    parts,
  )

const saidAt = ({ x, y }: Chart, { title }: Series, at: number, value: number): string =>
  `${title}, ${x.labels[at] ?? ''}: ${y.show(value)}`

/** A line for each series, with a point at each label. */
export const lineChart = (chart: Chart): View => {
  const { title, description, x, series } = chart
  const scale = scaleOf(series.flatMap(({ values }) => values.map((value) => value ?? 0)))
  const across = scalePoint<number>()
    .domain(x.labels.map((_label, at) => at))
    .range([plot.left, plot.right])
    .padding(0.5)
  const acrossAt = (at: number): number => across(at) ?? 0
  const drawn = line<number | null>()
    .defined((value) => value !== null)
    .x((_value, at) => acrossAt(at))
    .y((value) => scale(value ?? 0))
  return figure(
    title,
    description,
    drawing(
      title,
      description,
      height,
      axes(
        chart,
        x.labels.map((_label, at) => acrossAt(at)),
        scale,
      ),
      series.map((each, index) => [
        s('path', { class: ['line', colour(index)], d: drawn(each.values) ?? '' }),
        each.values.map(
          (value, at) =>
            value !== null &&
            marked(
              saidAt(chart, each, at, value),
              each.listAt?.(at),
              s('circle', {
                class: ['mark-of-value', colour(index)],
                cx: unit(acrossAt(at)),
                cy: unit(scale(value)),
                r: '2.5',
              }),
            ),
        ),
      ]),
    ),
    keyOf(series, true),
    figures(chart),
  )
}

/** A bar at each label, with a part for each series. */
export const barChart = (chart: Chart): View => {
  const { title, description, x, series } = chart
  const across = scaleBand<number>()
    .domain(x.labels.map((_label, at) => at))
    .range([plot.left, plot.right])
    .padding(0.2)
  const layers = stack<unknown, number, number>()
    .keys(series.keys())
    .value((at, index) => series[index]?.values[at] ?? 0)(x.labels.keys())
  const scale = scaleOf(layers.flatMap((layer) => layer.map(([, top]) => top)))
  const partAt = (each: Series, index: number, at: number, [from, to]: readonly [number, number]) =>
    to > from &&
    marked(
      saidAt(chart, each, at, to - from),
      each.listAt?.(at),
      s('rect', {
        class: ['mark-of-value', colour(index)],
        x: unit(across(at) ?? 0),
        y: unit(scale(to)),
        width: unit(across.bandwidth()),
        height: unit(scale(from) - scale(to)),
      }),
    )
  return figure(
    title,
    description,
    drawing(
      title,
      description,
      height,
      axes(
        chart,
        x.labels.map((_label, at) => (across(at) ?? 0) + across.bandwidth() / 2),
        scale,
      ),
      layers.map((layer, index) => {
        const each = series[index]
        return each && layer.map(([from, to], at) => partAt(each, index, at, [from, to]))
      }),
    ),
    keyOf(series, false),
    figures(chart),
  )
}

export type Step = { readonly title: string; readonly value: number; readonly list?: string }

type Funnel = {
  readonly title: string
  readonly description: string
  readonly counted: string
  readonly steps: readonly Step[]
}

const stepHeight = 46

const counts = (value: number): string => value.toLocaleString('en-GB')

/** A share of those of the step before, in whole hundredths. */
const shareOf = (steps: readonly Step[], at: number): string => {
  const before = steps[at - 1]?.value ?? 0
  return before === 0 ? '–' : `${Math.round(((steps[at]?.value ?? 0) / before) * 100)} %`
}

/** A row of a drawing: the name, the value at its end, and the bar below. */
const row = (
  { title, list }: Step,
  at: number,
  shown: string,
  bar: { readonly x: number; readonly width: number },
): View => [
  written(title, 0, at * stepHeight + 12),
  written(shown, width, at * stepHeight + 12, 'end'),
  marked(
    `${title}: ${shown}`,
    list,
    s('rect', {
      class: ['mark-of-value', colour(0)],
      x: unit(bar.x),
      y: unit(at * stepHeight + 18),
      width: unit(bar.width),
      height: 18,
    }),
  ),
]

type Rows = Omit<Funnel, 'steps'> & { readonly rows: readonly Step[] }

/** A bar of each of some that have long names, below each other. */
export const rowChart = ({ title, description, counted, rows }: Rows): View => {
  const scale = scaleLinear()
    .domain([0, Math.max(1, ...rows.map(({ value }) => value))])
    .range([0, width])
  const drawn = rows.map((each, at) => row(each, at, counts(each.value), { x: 0, width: scale(each.value) }))
  const columns: readonly Column<Step>[] = [
    { title: 'Name', show: (each) => (each.list === undefined ? each.title : link(each.list, each.title)) },
    { title: counted, isNumber: true, show: ({ value }) => counts(value) },
  ]
  return figure(
    title,
    description,
    drawing(title, description, rows.length * stepHeight, drawn),
    h('details', { class: 'figures' }, h('summary', {}, 'As a table'), table(title, columns, rows)),
  )
}

/** Bars of those who are left at each of some steps that follow each other. */
export const funnelChart = ({ title, description, counted, steps }: Funnel): View => {
  const scale = scaleLinear()
    .domain([0, Math.max(1, ...steps.map(({ value }) => value))])
    .range([0, width])
  const columns: readonly Column<number>[] = [
    { title: 'Step', show: (at) => steps[at]?.title },
    {
      title: counted,
      isNumber: true,
      show: (at) => {
        const { value = 0, list } = steps[at] ?? {}
        return list === undefined ? counts(value) : link(list, counts(value))
      },
    },
    { title: 'Of those before', isNumber: true, show: (at) => shareOf(steps, at) },
  ]
  const stepAt = (step: Step, at: number): View => {
    const shown = at === 0 ? counts(step.value) : `${counts(step.value)} (${shareOf(steps, at)})`
    return row(step, at, shown, { x: (width - scale(step.value)) / 2, width: scale(step.value) })
  }
  return figure(
    title,
    description,
    drawing(title, description, steps.length * stepHeight, steps.map(stepAt)),
    h(
      'details',
      { class: 'figures' },
      h('summary', {}, 'As a table'),
      table(
        title,
        columns,
        steps.map((_step, at) => at),
      ),
    ),
  )
}
