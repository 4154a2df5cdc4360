import { GB } from 'chrono-node/en'
import { parsePhoneNumberFromString } from 'libphonenumber-js/max'
import { parse as parsePostcode } from 'postcode'
import type { CustomerDetails } from '#domain/customers/events.ts'
import type { DetailName, SentFields } from '#domain/ingests/fields.ts'
import type { Formats } from '#domain/ingests/rules.ts'
import { CalendarDate } from '#domain/values.ts'
import { readCustomer } from '../customer-input.ts'
import { EmailAddress } from '../email-address.ts'

/** The date that a text names, in any of the forms that people in Britain write it: the day before the month. */
export const dateIn = (text: string, today = '9999-12-31'): string | undefined => {
  const written = text.trim().slice(0, 100)
  const iso = /^\d{4}-\d{2}-\d{2}(?=$|T)/.exec(written)?.[0]
  if (iso !== undefined) return CalendarDate.safeParse(iso).success ? iso : undefined
  const [found] = GB.parse(written.replaceAll('.', '/'))
  const start = found?.start
  if (!start?.isCertain('day') || !start.isCertain('month') || !start.isCertain('year')) return undefined
  const [year, month, day] = [start.get('year') ?? 0, start.get('month') ?? 0, start.get('day') ?? 0]
  const date = (of: number) => [of, month, day].map((part) => String(part).padStart(2, '0')).join('-')
  // Two digits of a year may have been read as of the next century.
  const read = date(year) > today ? date(year - 100) : date(year)
  return CalendarDate.safeParse(read).success ? read : undefined
}

export const isPhone = (text: string): boolean => parsePhoneNumberFromString(text, 'GB')?.isValid() ?? false

export const formatsOn = (today: string): Formats => ({
  email: (text) => EmailAddress.safeParse(text.trim()).success,
  phone: isPhone,
  postcode: (text) => parsePostcode(text).valid,
  date: (text) => dateIn(text, today),
})

const titles = /^(mr|mrs|ms|miss|mx|dr|prof|rev|sir|dame|lord|lady)\.?$/i

/** The parts of a name that was sent as one. */
export const nameParts = (name: string): Partial<Pick<CustomerDetails, 'title' | 'first_name' | 'last_name'>> => {
  // "Finch, Ada" is Ada Finch.
  const [before = '', after] = name.split(',', 2)
  const ordered = after === undefined ? before : `${after} ${before}`
  const words = ordered.trim().split(/\s+/).filter(Boolean)
  const title = words.length > 1 && titles.test(words[0] ?? '') ? words.shift() : undefined
  const last = words.length > 1 ? words.pop() : undefined
  const first = words.join(' ')
  return {
    ...(title !== undefined && { title: title.replace('.', '') }),
    ...(first !== '' && { first_name: first }),
    ...(last !== undefined && { last_name: last }),
  }
}

export type Tidied = {
  readonly details: Partial<CustomerDetails>
  readonly external_id: string | null
  readonly contact_id: string | null
  /** Which details were sent and cannot be used, and why. */
  readonly refused: Readonly<Partial<Record<DetailName, string>>>
}

/** The details of the person as they are stored; what cannot be used is left out. */
export const tidyDetails = (fields: Pick<SentFields, 'details'>, today: string): Tidied => {
  const text = (name: DetailName): string | undefined => {
    const found = fields.details.get(name)
    return found === undefined ? undefined : String(found.value).trim()
  }
  const whole = text('name')
  const dob = text('dob')
  const phone_number = text('phone_number')
  const sent = {
    ...(whole === undefined ? {} : nameParts(whole)),
    ...Object.fromEntries(
      plainDetails.flatMap((name) => {
        const value = text(name)
        return value === undefined ? [] : [[name, value] as const]
      }),
    ),
    ...(phone_number !== undefined && { phone_number: withoutWords(phone_number) || phone_number }),
    ...(dob !== undefined && { dob: dateIn(dob, today) ?? dob }),
  }
  const { details, refused } = readCustomer(sent, { today, country: null })
  const { phone_number: read, address_line2, ...rest } = details
  const isPhoneRead = phone_number === undefined || (read?.startsWith('+') ?? false)
  return {
    details: {
      ...rest,
      ...(read?.startsWith('+') && { phone_number: read }),
      ...(address_line2 && { address_line2 }),
    },
    external_id: text('external_id') ?? null,
    contact_id: text('contact_id') ?? null,
    refused: isPhoneRead ? refused : { ...refused, phone_number: 'must be a telephone number' },
  }
}

const plainDetails = [
  'title',
  'first_name',
  'last_name',
  'email',
  'postal_code',
  'address_line1',
  'address_line2',
  'city',
  'country',
] as const

/** "tel: 07700 900123 (home)" */
const withoutWords = (phone: string): string =>
  phone
    .replaceAll(/[a-z:]+/gi, ' ')
    .replaceAll(/\(\s*\)/g, '')
    .trim()
