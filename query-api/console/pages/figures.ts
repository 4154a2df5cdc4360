import { z } from 'zod'
import { choicesOf } from '../act.ts'
import { barChart, funnelChart, type Series } from '../chart.ts'
import { apiOf, pageOf, type Asked, type Page } from '../page.ts'
import { isOpenTo } from '../areas.ts'
import { empty, label, pounds, section } from '../show.ts'
import { h, type View } from '../view.ts'
import { Day, daysAfter, Every, partOf, startOf, startsOf, type Period } from '../../starts.ts'
import type { UserRole } from '#domain/values.ts'

/** Twelve weeks up to today, unless others are asked for. */
const periodOf = ({ url, today }: Pick<Asked, 'url' | 'today'>): Period => {
  const asked = (name: string, otherwise: string) => Day.safeParse(url.searchParams.get(name)).data ?? otherwise
  const until = asked('until', daysAfter(today, 1))
  const every = Every.catch('week').parse(url.searchParams.get('every'))
  return { from: asked('from', daysAfter(startOf(today, 'week'), -77)), until, every }
}

const shownDay = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })
const shownMonth = new Intl.DateTimeFormat('en-GB', { month: 'short', year: 'numeric', timeZone: 'UTC' })

type Figure = { readonly starts_on: string }

type Drawn = { readonly period: Period; readonly starts: readonly string[] }

const axisOf = ({ period: { every }, starts }: Drawn) => ({
  title: label(every),
  labels: starts.map((at) => (every === 'month' ? shownMonth : shownDay).format(new Date(at))),
})

/** The list of what a figure counts: from the start of its day, week or month to that of the next. */
const narrowed = (list: string, { period, starts }: Drawn, at: number): string => {
  const { from, until } = partOf(period, starts[at] ?? period.from)
  return `${list}${list.includes('?') ? '&' : '?'}since=${from}T00:00&until=${until}T00:00`
}

/** The list of all that is counted. */
const whole = (list: string, { period: { from, until } }: Drawn): string =>
  `${list}&since=${from}T00:00&until=${until}T00:00`

/** A row of sums for each name, in the order in which the names are given. */
const seriesBy = <Each extends Figure>(
  { starts }: Drawn,
  figures: readonly Each[],
  names: readonly string[],
  nameOf: (figure: Each) => string,
  valueOf: (figure: Each) => number,
): readonly Series[] =>
  names.map((name) => {
    const own = figures.filter((each) => nameOf(each) === name)
    const sumAt = (start: string) =>
      own.filter(({ starts_on }) => starts_on === start).reduce((sum, each) => sum + valueOf(each), 0)
    return { title: label(name), values: starts.map(sumAt) }
  })

/** The names that occur most often; all others together. */
const mostNames = 7
const other = 'other'
const namesBy = <Each extends { readonly count: number }>(figures: readonly Each[], nameOf: (each: Each) => string) => {
  const sums = new Map<string, number>()
  for (const each of figures) sums.set(nameOf(each), (sums.get(nameOf(each)) ?? 0) + each.count)
  const names = [...sums].toSorted(([, one], [, another]) => another - one).map(([name]) => name)
  return names.length > mostNames ? [...names.slice(0, mostNames), other] : names
}

const countOf = ({ count }: { readonly count: number }): number => count
const counts = (count: number): string => count.toLocaleString('en-GB')

const LeadFigures = z.object({
  data: z.array(z.object({ starts_on: z.string(), stage: z.string(), source: z.string(), count: z.number() })),
})

const figuresOf = async <Schema extends z.ZodType>(
  { organisation, now }: Asked,
  name: string,
  { period }: Drawn,
  schema: Schema,
): Promise<z.output<Schema>> =>
  now(apiOf(organisation?.id ?? '', `figures/${name}?${new URLSearchParams(period).toString()}`), schema)

const ofLeads = async (asked: Asked, drawn: Drawn): Promise<View> => {
  const { data } = await figuresOf(asked, 'leads', drawn, LeadFigures)
  const list = pageOf(asked.organisation?.id ?? '', 'leads/new')
  const listed = (by: 'stage' | 'source', { names, series }: { names: readonly string[]; series: readonly Series[] }) =>
    series.map((each, index) => {
      const name = names[index] ?? other
      if (name === other) return each
      const own = `${list}?${by}=${encodeURIComponent(name)}`
      return { ...each, list: whole(own, drawn), listAt: (at: number) => narrowed(own, drawn, at) }
    })
  const by = (nameOf: (each: (typeof data)[number]) => string) => {
    const names = namesBy(data, nameOf)
    const nameIn = (each: (typeof data)[number]) => (names.includes(nameOf(each)) ? nameOf(each) : other)
    return { names, series: seriesBy(drawn, data, names, nameIn, countOf) }
  }
  const stages = by(({ stage }) => stage)
  const sources = by(({ source }) => source)
  const common = { x: axisOf(drawn), y: { title: 'Leads', show: counts } }
  return [
    barChart({
      ...common,
      title: 'Leads by stage',
      description: 'Leads that came in, by the stage at which they are now.',
      series: listed('stage', stages),
    }),
    barChart({
      ...common,
      title: 'Leads by source',
      description: 'Leads that came in, by where they came from.',
      series: listed('source', sources),
    }),
  ]
}

const SalesFigures = z.object({
  total: z.array(z.object({ step: z.string(), count: z.number() })),
})

const ofSales = async (asked: Asked, drawn: Drawn): Promise<View> => {
  const { total } = await figuresOf(asked, 'sales', drawn, SalesFigures)
  const list = pageOf(asked.organisation?.id ?? '', 'applications')
  const step = (title: string, name: string, path: string) => ({
    title,
    value: total.find((each) => each.step === name)?.count ?? 0,
    list: `${list}${path}`,
  })
  return funnelChart({
    title: 'From applications to policies',
    description:
      'Applications to which this happened at that time, each once: of those before, some were started earlier. The lists show all applications as they stand now, whenever this happened.',
    counted: 'Applications',
    steps: [
      step('Started', 'started', ''),
      step('Quoted', 'quoted', ''),
      step('Quote accepted', 'accepted', '?status=quoted'),
      step('Policy bound', 'bound', '?status=bound'),
    ],
  })
}

const PremiumFigures = z.object({
  data: z.array(z.object({ starts_on: z.string(), status: z.string(), count: z.number(), amount_pence: z.number() })),
})

const premiumStates = ['collected', 'due', 'requested', 'failed', 'written_off'] as const

const ofPremiums = async (asked: Asked, drawn: Drawn): Promise<View> => {
  const { data } = await figuresOf(asked, 'premiums', drawn, PremiumFigures)
  const list = (state: string) => `${pageOf(asked.organisation?.id ?? '', 'premiums')}?status=${state}`
  const series = seriesBy(
    drawn,
    data,
    premiumStates,
    ({ status }) => status,
    (each) => each.amount_pence,
  )
  return barChart({
    title: 'Premiums',
    description: 'Premiums that fell due, by what became of them.',
    x: axisOf(drawn),
    y: { title: 'Pounds', show: pounds },
    series: series.map((each, index) => {
      const own = list(premiumStates[index] ?? '')
      return { ...each, list: own, listAt: (at: number) => narrowed(own, drawn, at) }
    }),
  })
}

const DeliveryFigures = z.object({
  data: z.array(z.object({ starts_on: z.string(), state: z.string(), count: z.number() })),
})

const deliveryStates = ['delivered', 'pending', 'failed', 'cancelled'] as const

const ofDeliveries = async (asked: Asked, drawn: Drawn): Promise<View> => {
  const { data } = await figuresOf(asked, 'deliveries', drawn, DeliveryFigures)
  const list = (state: string) => `${pageOf(asked.organisation?.id ?? '', 'deliveries')}?state=${state}`
  const series = seriesBy(drawn, data, deliveryStates, ({ state }) => state, countOf)
  return barChart({
    title: 'Webhooks',
    description: 'Webhooks of the events that were recorded, by what became of them.',
    x: axisOf(drawn),
    y: { title: 'Webhooks', show: counts },
    series: series.map((each, index) => {
      const own = list(deliveryStates[index] ?? '')
      return { ...each, list: own, listAt: (at: number) => narrowed(own, drawn, at) }
    }),
  })
}

/** Each picture, for the roles that its route of the API names. */
const pictures: readonly { readonly roles: readonly UserRole[]; readonly draw: typeof ofLeads }[] = [
  { roles: ['leads', 'auditor'], draw: ofLeads },
  { roles: ['leads', 'underwriting', 'policies', 'auditor'], draw: ofSales },
  { roles: ['policies', 'claims', 'finance', 'auditor'], draw: ofPremiums },
  { roles: ['owner', 'operator', 'auditor'], draw: ofDeliveries },
]

const periodForm = ({ url }: Asked, { from, until, every }: Period): View =>
  h(
    'form',
    { class: 'filters', method: 'get', action: url.pathname },
    h('label', {}, h('span', {}, 'From'), h('input', { name: 'from', type: 'date', value: from })),
    h('label', {}, h('span', {}, 'Until, without that day'), h('input', { name: 'until', type: 'date', value: until })),
    h(
      'label',
      {},
      h('span', {}, 'By'),
      h(
        'select',
        { name: 'every' },
        choicesOf(Every.options).map(([value, shown]) => h('option', { value, selected: value === every }, shown)),
      ),
    ),
    h('button', { type: 'submit' }, 'Show'),
  )

/** All that came in, was sold, fell due and was sent over time, as pictures, each with the way to its list. */
export const figuresPage: Page = {
  address: '/console/organisations/:organisation_id/figures',
  show: async (asked) => {
    const period = periodOf(asked)
    const drawn = { period, starts: startsOf(period) }
    const own = pictures.filter((each) => isOpenTo(each, asked.me))
    const charts = await Promise.all(own.map(({ draw }) => draw(asked, drawn)))
    return {
      title: 'Figures',
      main: [
        periodForm(asked, period),
        charts.length === 0
          ? empty('There are no figures for your roles.')
          : section('Over time', h('div', { class: 'charts' }, charts)),
      ],
    }
  },
}
