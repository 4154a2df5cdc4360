import { h, hintOf, type Field } from './elements.ts'

const parts = [
  { part: 'day', label: 'Day', digits: 2 },
  { part: 'month', label: 'Month', digits: 2 },
  { part: 'year', label: 'Year', digits: 4 },
] as const

type Part = (typeof parts)[number]['part']

const example = 'For example, 27 3 1985.'

/** A date in three inputs, as people know and write it. */
export const dateField = ({ name, label, hint, value = '', autocomplete }: Field): HTMLElement => {
  const [year = '', month = '', day = ''] = value.split('-')
  const held: Readonly<Record<Part, string>> = { day: withoutZero(day), month: withoutZero(month), year }
  const id = (part: string) => `${name}-${part}`
  return h(
    'fieldset',
    { class: 'field date', id: name, 'aria-describedby': `${name}-hint` },
    h('legend', {}, label),
    hintOf(name, [hint, example].filter(Boolean).join(' ')),
    h(
      'div',
      { class: 'parts' },
      ...parts.map(({ part, label: said, digits }) =>
        h(
          'div',
          {},
          h('label', { for: id(part) }, said),
          h('input', {
            id: id(part),
            name: id(part),
            type: 'text',
            inputmode: 'numeric',
            maxlength: digits,
            class: `digits-${digits}`,
            value: held[part],
            autocomplete: autocomplete === 'bday' ? `bday-${part}` : 'off',
          }),
        ),
      ),
    ),
  )
}

const withoutZero = (digits: string): string => digits.replace(/^0/, '')

const typedIn = (given: FormData, name: string): Readonly<Record<Part, string>> => {
  const typed = (part: Part) => {
    const value = given.get(`${name}-${part}`)
    return typeof value === 'string' ? value.trim() : ''
  }
  return { day: typed('day'), month: typed('month'), year: typed('year') }
}

/** True where a form has this name as a date. */
export const hasDate = (given: FormData, name: string): boolean => given.has(`${name}-day`)

/** `1985-03-27`; empty while nothing was typed. */
export const dateIn = (given: FormData, name: string): string => {
  const { day, month, year } = typedIn(given, name)
  return day + month + year === '' ? '' : `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
}

const isWithin = (text: string, least: number, most: number): boolean =>
  /^\d+$/.test(text) && Number(text) >= least && Number(text) <= most

const isReal = ({ day, month, year }: Readonly<Record<Part, string>>): boolean => {
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  return date.getUTCMonth() === Number(month) - 1
}

/** The parts of a date that must be corrected, each by its name; empty where nothing at all was typed. */
export const dateFaults = (given: FormData, name: string): Readonly<Record<string, string>> => {
  const typed = typedIn(given, name)
  if (typed.day + typed.month + typed.year === '') return {}
  const wrong: Readonly<Record<Part, string | undefined>> = {
    day: isWithin(typed.day, 1, 31) ? undefined : 'enter a day from 1 to 31',
    month: isWithin(typed.month, 1, 12) ? undefined : 'enter a month from 1 to 12',
    year: isWithin(typed.year, 1000, 9999) ? undefined : 'enter a year with four digits',
  }
  const faults = parts.flatMap(({ part }) => {
    const reason = wrong[part]
    return reason === undefined ? [] : [[`${name}-${part}`, reason] as const]
  })
  if (faults.length === 0 && !isReal(typed)) return { [`${name}-day`]: 'enter a day that this month has' }
  return Object.fromEntries(faults)
}
