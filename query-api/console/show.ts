import { h, type View } from './view.ts'

/** Parts that every page is made of: how values, lists and records look. */

/** Times are shown, and asked for, as clocks there have them. */
export const zone = 'Europe/London'
const dateTime = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: zone })
const dateOnly = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })
const currency = new Intl.NumberFormat('en-GB', { style: 'currency', currency: 'GBP' })

const nothing = () => h('span', { class: 'quiet' }, '–')

/** A moment within a sentence. */
export const saidMoment = (at: string): string => dateTime.format(new Date(at))

/** A moment, as clocks in London show it. */
export const moment = (at: string | null | undefined): View =>
  at ? h('time', { dateTime: at, title: at }, saidMoment(at)) : nothing()

const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium', timeZone: zone })

/** The same to the second, for what happens many times a minute. */
export const exactMoment = (at: string): View => h('time', { dateTime: at, title: at }, exact.format(new Date(at)))

/** A date within a sentence. */
export const saidDay = (on: string): string => dateOnly.format(new Date(`${on.slice(0, 10)}T00:00Z`))

/** A date of the calendar. */
export const day = (on: string | null | undefined): View => (on ? h('time', { dateTime: on }, saidDay(on)) : nothing())

export const money = (pence: number | null | undefined): View =>
  pence === null || pence === undefined ? nothing() : currency.format(pence / 100)

const writtenAs: Readonly<Record<string, string>> = {
  api: 'API',
  bmi: 'BMI',
  dob: 'date of birth',
  gp: 'GP',
  id: 'ID',
  nhs: 'NHS',
  sms: 'SMS',
  tps: 'TPS',
  uk: 'UK',
  url: 'URL',
  whatsapp: 'WhatsApp',
}
const unit = /_(cm|kg|km|lb|mm|ft)$/

/** `being_worked` as people write it, and `height_cm` with its unit apart. */
export const words = (name: string): string =>
  name
    .replace(unit, ' ($1)')
    .replaceAll('_', ' ')
    .replaceAll(/\b[a-z]+\b/g, (each) => writtenAs[each] ?? each)

/** A value that may be one of a few names, or be typed by somebody, which stays as it is. */
export const value = (given: unknown): string => {
  if (typeof given === 'boolean') return given ? 'yes' : 'no'
  if (Array.isArray(given)) return given.map(value).join(', ') || 'none'
  return typeof given === 'string' && /^[a-z_]+$/.test(given) ? words(given) : String(given)
}

/** A name of the API with a capital, as a label has it. */
export const label = (name: string): string => words(name).replace(/^./, (first) => first.toUpperCase())

export const text = (value: string | null | undefined): View =>
  value === null || value === undefined || value === '' ? nothing() : value

/** The urgency of a state: its colour, beside its words. */
export type Tone = 'calm' | 'good' | 'wait' | 'bad'

export const badge = (state: string, tone: Tone = 'calm'): View => h('span', { class: `badge ${tone}` }, words(state))

export const link = (href: string, ...children: View[]): View => h('a', { href }, ...children)

type Named = { readonly title?: string | null; readonly first_name?: string | null; readonly last_name?: string | null }

/** The name of a person; empty where none is known. */
export const nameOf = (person: Named | null | undefined): string =>
  [person?.title, person?.first_name, person?.last_name].filter(Boolean).join(' ')

/** An amount within a sentence. */
export const pounds = (pence: number): string => currency.format(pence / 100)

/** The last part of an id is enough to tell records of a page apart. */
export const shortId = (id: string): string => id.slice(-8)

/** The same as a customer is told it of their application. */
export const reference = (id: string): string => `${id.slice(-8, -4)}-${id.slice(-4)}`.toUpperCase()

export type Fact = readonly [name: string, value: View]

export const facts = (given: readonly Fact[]): View =>
  h('dl', { class: 'facts' }, ...given.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))))

/** A part of a page under a heading of its own. */
export const section = (title: string, ...children: View[]): View => {
  const id = title.toLowerCase().replaceAll(/[^a-z]+/g, '-')
  return h('section', { 'aria-labelledby': id }, h('h2', { id }, title), ...children)
}

export const empty = (...said: View[]): View => h('p', { class: 'empty' }, ...said)

export type Column<Row> = {
  readonly title: string
  readonly show: (row: Row) => View
  readonly isNumber?: true
}

/** A list as a table; on a narrow screen each row is a block with the titles beside the values. */
export const table = <Row>(caption: string, columns: readonly Column<Row>[], rows: readonly Row[]): View =>
  h(
    'table',
    {},
    h('caption', { class: 'unseen' }, caption),
    h('thead', {}, h('tr', {}, ...columns.map(({ title }) => h('th', { scope: 'col' }, title)))),
    h(
      'tbody',
      {},
      ...rows.map((row) =>
        h(
          'tr',
          {},
          ...columns.map(({ title, show, isNumber }, index) =>
            h(
              index === 0 ? 'th' : 'td',
              {
                ...(index === 0 && { scope: 'row' }),
                'data-title': title,
                ...(isNumber && { class: 'number' }),
              },
              show(row),
            ),
          ),
        ),
      ),
    ),
  )

/** The same address with other parameters; one that is undefined is left out. */
export const addressWith = (url: URL, changed: Readonly<Record<string, string | undefined>>): string => {
  const other = new URL(url)
  for (const [name, value] of Object.entries(changed))
    if (value === undefined) other.searchParams.delete(name)
    else other.searchParams.set(name, value)
  return `${other.pathname}${other.search}`
}

/** The links to what comes before and after a page of a list. */
export const more = (url: URL, next_cursor: string | null, previous_cursor: string | null = null): View => {
  const to = (cursor: string | null, title: string) => cursor !== null && link(addressWith(url, { cursor }), title)
  return (
    (next_cursor !== null || previous_cursor !== null) &&
    h(
      'nav',
      { 'aria-label': 'Pages', class: 'pages' },
      to(previous_cursor, 'Previous page'),
      ' ',
      to(next_cursor, 'Next page'),
    )
  )
}

export type Choice = readonly [value: string, label: string]

/** A choice that narrows a list down: each is an address. */
export type Filter = {
  readonly name: string
  readonly label: string
  /** Left out where it is typed. */
  readonly choices?: readonly Choice[]
  /** True where it is a time. */
  readonly isMoment?: true
}

const chosen = (url: URL, { name, choices, isMoment }: Filter): View => {
  const asked = url.searchParams.get(name) ?? ''
  if (!choices) return h('input', { name, type: isMoment ? 'datetime-local' : 'text', value: asked })
  const option = ([value, shown]: Choice) => h('option', { value, selected: asked === value }, shown)
  return h('select', { name }, h('option', { value: '' }, 'any'), choices.map(option))
}

export const filters = (url: URL, given: readonly Filter[]): View =>
  h(
    'form',
    { class: 'filters', method: 'get', action: url.pathname },
    ...given.map((filter) => h('label', {}, h('span', {}, filter.label), chosen(url, filter))),
    h('button', { type: 'submit' }, 'Show'),
  )
