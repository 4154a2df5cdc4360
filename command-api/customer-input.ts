import { isSupportedCountry } from 'libphonenumber-js/max'
import { parse as parsePostcode } from 'postcode'
import { z } from 'zod'
import { CalendarDate } from '#domain/values.ts'
import type { CustomerDetails } from '#domain/customers/events.ts'
import { ageLastBirthday } from '#domain/rating/age.ts'
import { noDate } from '#domain/reasons.ts'
import { findableText, isUnseen, withoutUnseen } from '#domain/invisible-characters.ts'
import { readTelephone, type WrittenFault } from '#infra/telephone.ts'
import { EmailAddress, noEmailAddress } from './email-address.ts'

const needed = {
  first_name: z.string().max(100),
  last_name: z.string().max(100),
  email: EmailAddress,
}

const empty = z.literal('')

/**
 * The details of a person, as a caller sends them; null and an empty text, as forms send it, are as if they had not been
 * sent. They are checked one by one, so that each fault is reported.
 */
const CustomerInput = z.object({
  title: z.string().max(20).nullish(),
  first_name: needed.first_name.nullish(),
  last_name: needed.last_name.nullish(),
  email: z.union([needed.email, empty]).nullish(),
  phone_number: z.string().max(50).nullish(),
  dob: z.union([z.iso.date(), empty]).nullish(),
  postal_code: z.string().max(20).nullish(),
  address_line1: z.string().max(200).nullish(),
  address_line2: z.string().max(200).nullish(),
  city: z.string().max(100).nullish(),
  country: z.string().max(100).nullish().describe('ISO 3166-1 alpha-2, or a name; GB by default.'),
})

const documented = (schema: z.ZodType) => {
  const { $schema: _, ...shown } = z.toJSONSchema(schema, { io: 'input' })
  return shown
}

/** Any object: what is wrong within it is answered as `customer_invalid`. */
export const AnyCustomerInput = z.looseObject({}).meta({ override: documented(CustomerInput) })

/** As above, for an operation that needs these details in the request itself. */
export const NewCustomerInput = z.looseObject({}).meta({ override: documented(CustomerInput.extend(needed)) })

type Facts = { readonly today: string; readonly country: string }
type Read = { readonly value: string } | { readonly reason: string }
type Tidied = {
  /** Only what was sent. */
  readonly details: Partial<CustomerDetails>
  /** The reasons why sent values cannot be used, by field. */
  readonly refused: Readonly<Record<string, string>>
}

/**
 * Tidies the details of a person. What is null or blank is as if it had not been sent, but for the second line of an
 * address, which some addresses do not have. `country` is what is known of it so far.
 */
export const readCustomer = (
  sent: Readonly<Record<string, unknown>>,
  { today, country }: { readonly today: string; readonly country: string | null },
): Tidied => {
  const facts = { today, country: typeof sent['country'] === 'string' ? sent['country'].trim() : (country ?? '') }
  const details: Partial<Record<keyof CustomerDetails, string | null>> = {}
  const refused: Record<string, string> = {}

  for (const name of names) {
    const value = sent[name]
    if (name === 'address_line2' && isBlank(value)) details[name] = null
    if (value === undefined || isBlank(value)) continue
    const read = typeof value === 'string' ? readers[name](tidied(name, value), facts) : { reason: 'must be text' }
    if ('value' in read) details[name] = read.value
    else refused[name] = read.reason
  }
  return { details, refused }
}

const isBlank = (value: unknown): value is '' | null => value === null || (typeof value === 'string' && isUnseen(value))

/** Without what nobody sees: two texts that look alike are one. */
const tidied = (name: keyof CustomerDetails, value: string): string =>
  name === 'email' || name === 'phone_number' ? findableText(value) : withoutUnseen(value)

const text =
  (most: number) =>
  (value: string): Read => {
    if (value.length > most) return { reason: `must not be longer than ${most} characters` }
    if (/\p{Cc}/u.test(value) || !value.isWellFormed()) return { reason: 'must not hold control characters' }
    return { value }
  }

const email = (value: string): Read => {
  const { data } = EmailAddress.safeParse(value)
  return data === undefined ? { reason: noEmailAddress } : { value: data.toLowerCase() }
}

const oldest = 120

const dob = (value: string, { today }: Facts): Read => {
  if (!CalendarDate.safeParse(value).success) return { reason: noDate(value) }
  if (value >= today) return { reason: 'must be in the past' }
  return ageLastBirthday(value, today) <= oldest ? { value } : { reason: `must not be more than ${oldest} years ago` }
}

/** Names by which people say that they live in Great Britain or Northern Ireland. */
const british =
  /^(|gb|gbr|uk|u\.k\.|united kingdom|great britain|britain|england|scotland|wales|northern ireland|united kingdom of great britain and northern ireland)$/i

const postalCode = (value: string, { country }: Facts): Read => {
  if (!british.test(country)) return text(20)(value)
  const parsed = parsePostcode(value)
  return parsed.valid ? { value: parsed.postcode } : { reason: 'must be a UK postcode' }
}

const phoneReasons: Readonly<Record<WrittenFault, string>> = {
  too_short: 'too_short: the number has too few digits',
  too_long: 'too_long: the number has too many digits',
  format_invalid: 'format_invalid: must be a telephone number',
  spreadsheet: 'format_invalid: a spreadsheet has rounded the number; write all of its digits, as text',
}

const phoneNumber = (value: string, { country }: Facts): Read => {
  const region = country.toUpperCase()
  const read = value.length > 50 ? noTelephone : readTelephone(value, isSupportedCountry(region) ? region : 'GB')
  return 'fault' in read ? { reason: phoneReasons[read.fault] } : { value: read.number }
}

/** Parts of a person's details that are not kept: a telephone number loses its extension. */
export const notKept = (at: string, sent: Readonly<Record<string, unknown>>): readonly string[] => {
  const { phone_number } = sent
  if (typeof phone_number !== 'string' || phone_number.length > 50) return []
  const read = readTelephone(findableText(phone_number), 'GB')
  return 'fault' in read || read.extension === null ? [] : [`${at}.phone_number.extension`]
}

const noTelephone = { fault: 'format_invalid' } as const

const countryNames = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })

/** Codes that have a name, and are no country's. */
const notCountries = /^(EU|EZ|QO|UN|XA|XB|ZZ)$/

const country = (value: string): Read => {
  if (!/^[a-z]{2}$/i.test(value)) return text(100)(value)
  const code = value.toUpperCase() === 'UK' ? 'GB' : value.toUpperCase()
  const isKnown = countryNames.of(code) !== undefined && !notCountries.test(code)
  return isKnown ? { value: code } : { reason: 'must be a country: ISO 3166-1 alpha-2, or a name' }
}

const readers: Readonly<Record<keyof CustomerDetails, (value: string, facts: Facts) => Read>> = {
  title: text(20),
  first_name: text(100),
  last_name: text(100),
  email,
  phone_number: phoneNumber,
  dob,
  postal_code: postalCode,
  address_line1: text(200),
  address_line2: text(200),
  city: text(100),
  country,
}

const names = Object.keys(readers) as readonly (keyof CustomerDetails)[] // the keys that its type gives it
