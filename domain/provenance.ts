import type { Provenance } from './values.ts'

/**
 * The usable part of what a page sent about its visitor. Nothing is refused: what cannot be used is left out, and so is
 * what may show who the visitor is.
 */
export const tidyProvenance = (sent: unknown): Provenance | null => {
  if (!isObject(sent)) return null
  const page = addressOf(sent['page_url'])
  const utm = tidyTags(sent['utm'], utmTags, 200) ?? tagsOf(page, utmTags, 'utm_', 200)
  const click_ids = tidyTags(sent['click_ids'], clickIds, 500) ?? tagsOf(page, clickIds, '', 500)
  const tidied: Provenance = {
    ...field('page_url', page && withoutPersons(page)),
    ...field('referrer', mapped(addressOf(sent['referrer']), withoutPersons)),
    ...field('page_title', plain(sent['page_title'], 300)),
    ...field('locale', locale(sent['locale'])),
    ...field('timezone', timezone(sent['timezone'])),
    ...field('utm', utm),
    ...field('click_ids', click_ids),
  }
  return Object.keys(tidied).length > 0 ? tidied : null
}

/** Values that are known stay; later ones only fill gaps. */
export const mergeProvenance = (first: Provenance | null, later: Provenance | null): Provenance | null =>
  first || later ? { ...later, ...first } : null

const utmTags = ['source', 'medium', 'campaign', 'term', 'content']
const clickIds = ['gclid', 'gbraid', 'wbraid', 'fbclid', 'msclkid', 'ttclid']
const longestAddress = 2000

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const field = <Name extends string, Value>(name: Name, value: Value | undefined) =>
  value === undefined ? undefined : { [name]: value }

const mapped = <Value, Result>(value: Value | undefined, map: (value: Value) => Result): Result | undefined =>
  value === undefined ? undefined : map(value)

/** One line of text; undefined when there is none, or too much. */
const plain = (value: unknown, most: number): string | undefined => {
  if (typeof value !== 'string' || !value.isWellFormed()) return undefined
  const line = value.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim()
  return line !== '' && line.length <= most ? line : undefined
}

const addressOf = (value: unknown): URL | undefined => {
  const address = typeof value === 'string' && value.length <= longestAddress ? URL.parse(value) : null
  return address && /^https?:$/.test(address.protocol) ? address : undefined
}

const personalKey =
  /e-?mail|phone|mobile|(^|[^a-z])(tel|name|ol|code|sid|key|otp)([^a-z]|$)|name$|dob|birth|post_?-?code|zip|token|session|auth|secret|passw|pwd|signature|jwt/i
const emailLike = /@|%40/
/** An address within an address has a query of its own. */
const personalQuery = /(mail|phone|name|dob|birth|post_?code|token)[^=&]*(=|%3d)/i
const phoneLike = /^\+?[\d\s().-]{9,20}$/

/** Tags of campaigns are numbers as often as words, and none of them is a telephone number. */
const isTag = (key: string) => key.startsWith('utm_') || clickIds.includes(key)

const isPersonal = (key: string, value: string): boolean =>
  (!isTag(key) && (personalKey.test(key) || phoneLike.test(value))) ||
  [key, value].some((text) => emailLike.test(text) || personalQuery.test(text))

/** The address without its fragment, without a user, and without what looks personal in its query and path. */
const withoutPersons = (address: URL): string => {
  const kept = [...address.searchParams].filter(([key, value]) => !isPersonal(key, value))
  const query = new URLSearchParams(kept).toString()
  const path = address.pathname.split('/').map((part) => (isPersonalPart(part) ? '-' : part))
  return `${address.origin}${path.join('/')}${query === '' ? '' : `?${query}`}`
}

const isPersonalPart = (part: string): boolean => emailLike.test(part) || phoneLike.test(part.replaceAll('%20', ' '))

const tagsOf = (address: URL | undefined, names: readonly string[], prefix: string, most: number) =>
  address &&
  tidyTags(Object.fromEntries(names.map((name) => [name, address.searchParams.get(prefix + name)])), names, most)

const tidyTags = (sent: unknown, names: readonly string[], most: number) => {
  if (!isObject(sent)) return undefined
  const tags = names.flatMap((name) => {
    const value = Object.hasOwn(sent, name) ? plain(sent[name], most) : undefined
    return value === undefined || emailLike.test(value) ? [] : [[name, value] as const]
  })
  return tags.length > 0 ? Object.fromEntries(tags) : undefined
}

const locale = (value: unknown): string | undefined => {
  if (typeof value !== 'string' || value.length > 35) return undefined
  try {
    return Intl.getCanonicalLocales(value)[0]
  } catch {
    return undefined
  }
}

/** A name of the IANA database; an offset such as +01:00 is none. */
const timezone = (value: unknown): string | undefined => {
  if (typeof value !== 'string' || !/^[A-Za-z][\w/+-]{0,63}$/.test(value)) return undefined
  try {
    return new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions().timeZone
  } catch {
    return undefined
  }
}
