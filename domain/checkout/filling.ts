import type { Release } from '../catalogue/events.ts'
import { shortMoney } from '../money.ts'
import type { Quote } from '../quotes/record.ts'

const names = ['product_name', 'cover_amount', 'term_years', 'premium', 'start_date', 'cooldown_days'] as const
type Name = (typeof names)[number]

/** The value of each placeholder; null: the quote has no such thing. */
export type Filling = Readonly<Record<Name, string | null>>

const placeholder = /\{([^{}]*)\}/g
const isName = (text: string): text is Name => names.some((name) => name === text)

/** Placeholders in a text that do not exist. */
export const unknownPlaceholders = (text: string): readonly string[] =>
  [...text.matchAll(placeholder)].map(([, name = '']) => name).filter((name) => !isName(name))

export const placeholderNames: readonly string[] = names

export const fillingOf = (
  { name, cooldown_days }: Pick<Release, 'name' | 'cooldown_days'>,
  { cover_amount_pence, currency_code, term_years, premium_pence, start_date }: Quote,
): Filling => ({
  product_name: name,
  cover_amount: cover_amount_pence === null ? null : shortMoney(cover_amount_pence, currency_code),
  term_years: term_years === null ? null : String(term_years),
  premium: shortMoney(premium_pence, currency_code),
  start_date: longDate(start_date),
  cooldown_days: String(cooldown_days),
})

const dates = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' })

/** `2026-06-02` → `2 June 2026`. */
const longDate = (date: string): string => dates.format(new Date(date))

/** The text with its placeholders filled; one with nothing to fill it stays empty. */
export const fill = (text: string, filling: Filling): string =>
  text.replace(placeholder, (whole, name: string) => (isName(name) ? (filling[name] ?? '') : whole))

/** The text, unless one of its placeholders has nothing to fill it: such a point is not shown. */
export const fillAll = (text: string, filling: Filling): string | undefined => {
  const isWithout = ([, name = '']: RegExpMatchArray) => isName(name) && filling[name] === null
  return [...text.matchAll(placeholder)].some(isWithout) ? undefined : fill(text, filling)
}
