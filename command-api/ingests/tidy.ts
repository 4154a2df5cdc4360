import { GB } from 'chrono-node/en'
import { parsePhoneNumberFromString } from 'libphonenumber-js/max'
import { parse as parsePostcode } from 'postcode'
import type { CustomerDetails } from '#domain/customers/events.ts'
import type { RefusedDetail } from '#domain/ingests/events.ts'
import type { DetailName } from '#domain/ingests/field-names.ts'
import { factKeyOf, type SentFields } from '#domain/ingests/fields.ts'
import type { Formats } from '#domain/ingests/rules.ts'
import type { Facts } from '#domain/leads/events.ts'
import { dateIn as dateInZone } from '#domain/time-zone.ts'
import { findableText, withoutUnseen } from '#domain/invisible-characters.ts'
import { CalendarDate, SentInstant } from '#domain/values.ts'
import { isRounded } from '#infra/telephone.ts'
import { readCustomer } from '../customer-input.ts'
import { EmailAddress } from '../email-address.ts'

/** The date and time zone of the organisation that reads. */
export type Reader = {
  /** The date where the organisation is, `YYYY-MM-DD`. */
  readonly today: string
  readonly time_zone: string
}
const anywhere: Reader = { today: '9999-12-31', time_zone: 'UTC' }

/** The date that a text names, in any of the forms that people in Britain write it: the day before the month. */
export const dateIn = (text: string, reader: Reader = anywhere): string | undefined => {
  const { today } = reader
  const written = text.trim().slice(0, 100)
  const iso = /^\d{4}-\d{2}-\d{2}(?=$|T)/.exec(written)?.[0]
  if (iso !== undefined) return CalendarDate.safeParse(iso).success ? dateOfMoment(written, iso, reader) : undefined
  const [found] = GB.parse(written.replaceAll('.', '/'))
  const start = found?.start
  if (!start?.isCertain('day') || !start.isCertain('month') || !start.isCertain('year')) return undefined
  const [year, month, day] = [start.get('year') ?? 0, start.get('month') ?? 0, start.get('day') ?? 0]
  const date = (of: number) => [of, month, day].map((part) => String(part).padStart(2, '0')).join('-')
  // Two digits of a year may have been read as of the next century.
  const isAmbiguous = !written.includes(String(year))
  const read = isAmbiguous && date(year) > today ? date(year - 100) : date(year)
  return CalendarDate.safeParse(read).success ? read : undefined
}

/** A date that a system keeps as a moment is midnight, of the organisation's time zone or of UTC: then it is as it was written. */
const dateOfMoment = (written: string, date: string, { time_zone }: Reader): string => {
  const moment = SentInstant.safeParse(written).data
  return moment === undefined || moment.slice(10) === 'T00:00:00.000Z' ? date : dateInZone(time_zone, moment)
}

const isPhone = (text: string): boolean => parsePhoneNumberFromString(findableText(text), 'GB')?.isValid() ?? false

export const formatsOn = (reader: Reader): Formats => ({
  email: (text) => EmailAddress.safeParse(text).success,
  phone: isPhone,
  postcode: (text) => parsePostcode(withoutUnseen(text)).valid,
  date: (text) => dateIn(text, reader),
})

const titles = /^(mr|mrs|ms|miss|mx|dr|prof|rev|sir|dame|lord|lady)\.?$/i

/** Words that begin a last name, as they are written within a name: "Anna van der Berg". */
const particles = /^(af|da|das|de|del|della|den|der|di|do|dos|du|la|le|ten|ter|van|vom|von|zu|zum|zur)$/
/** Suffixes that may follow a whole name, after a comma. */
const suffixes = /^(jr|sr|ii|iii|phd|mbe|obe|cbe|qc|kc)\.?$/i

const lastNameIn = (words: readonly string[]): number => {
  let from = words.length - 1
  while (from > 1 && particles.test(words[from - 1] ?? '')) from--
  return from
}

/** The parts of a name that was sent as one. */
export const nameParts = (name: string): Partial<Pick<CustomerDetails, 'title' | 'first_name' | 'last_name'>> => {
  const wordsOf = (text: string) => text.split(/[\s,]+/).filter(Boolean)
  const at = name.indexOf(',')
  const behind = at < 0 ? [] : wordsOf(name.slice(at))
  const after = behind.every((word) => suffixes.test(word)) ? [] : behind
  const before = wordsOf(at < 0 ? name : name.slice(0, at))
  const words = [...before]
  // "van der Berg, Anna" is Anna van der Berg, and all that stands before the comma is her last name.
  const named = after.length > 0 ? after : words
  const titled = [named, words].find((each) => titles.test(each[0] ?? '') && before.length + after.length > 1)
  const title = titled?.shift()
  const from = after.length > 0 ? 0 : words.length > 1 ? lastNameIn(words) : words.length
  const last = words.slice(from).join(' ') || undefined
  const first = (after.length > 0 ? after : words.slice(0, from)).join(' ')
  return {
    ...(title !== undefined && { title: title.replace('.', '') }),
    ...(first !== '' && { first_name: first }),
    ...(last !== undefined && { last_name: last }),
  }
}

export type Tidied = {
  readonly details: Partial<CustomerDetails>
  readonly external_id: string | null
  /** The same as it came, where that differs: by it the person may be known from before. */
  readonly former_external_id: string | null
  readonly contact_id: string | null
  /** The reasons why sent details cannot be used, by detail. */
  readonly refused: Readonly<Partial<Record<DetailName, string>>>
  /** Sent values about the person that are none of the details, as they came. */
  readonly facts: Facts
}

/** The details of the person as they are stored; what cannot be used is a fact. */
export const tidyDetails = (fields: Pick<SentFields, 'details'>, reader: Reader): Tidied => {
  const { today } = reader
  const asSent = (name: DetailName): string | undefined => {
    const found = fields.details.get(name)
    return found === undefined ? undefined : String(found.value).trim()
  }
  const text = (name: DetailName): string | undefined => {
    const sent = asSent(name)
    return sent === undefined ? undefined : withoutUnseen(sent)
  }
  const wordless = (['name', 'first_name', 'last_name'] as const).filter((name) => isWordless(text(name) ?? ''))
  const nameless = Object.fromEntries(wordless.map((name) => [name, 'must have a letter']))
  const whole = nameless['name'] === undefined ? text('name') : undefined
  const dob = text('dob')
  const phone = telephoneIn(text('phone_number'))
  const sent = {
    ...(whole === undefined ? {} : nameParts(whole)),
    ...Object.fromEntries(
      plainDetails.flatMap((name) => {
        const value = text(name)
        return value === undefined || nameless[name] !== undefined ? [] : [[name, value] as const]
      }),
    ),
    ...(phone && { phone_number: phone.number }),
    ...(dob !== undefined && { dob: dateIn(dob, reader) ?? dob }),
  }
  const { details, refused: unusable } = readCustomer(sent, { today, country: null })
  const { address_line2, ...rest } = details
  const refused = { ...inSentNames(unusable, fields), ...nameless }
  const external_id = asSent('external_id')
  const plainId = external_id === undefined ? null : findableText(external_id)
  return {
    details: { ...rest, ...(address_line2 && { address_line2 }) },
    external_id: plainId,
    former_external_id: external_id === undefined || external_id === plainId ? null : external_id,
    contact_id: asSent('contact_id')?.trim() ?? null,
    refused,
    facts: {
      ...factsOfRefused(refused, fields),
      ...(rest.phone_number && phone?.extension && { phone_extension: phone.extension }),
    },
  }
}

/** Only punctuation, such as a comma between two empty fields, is nobody's name. */
const isWordless = (name: string): boolean => name !== '' && !/[\p{L}\p{N}]/u.test(name)

/** The reasons why sent details cannot be used. A name that was sent as one is refused as one. */
const inSentNames = (
  unusable: Readonly<Record<string, string>>,
  { details }: Pick<SentFields, 'details'>,
): Tidied['refused'] =>
  Object.fromEntries(
    Object.entries(unusable).map(([name, reason]) => [
      [...details.keys()].find((each) => each === name) ?? 'name',
      reason.replace(/^[a-z]+_[a-z]+: /, ''),
    ]),
  )

const factsOfRefused = (refused: Tidied['refused'], { details }: Pick<SentFields, 'details'>): Facts =>
  Object.fromEntries(
    [...details].flatMap(([name, { value, sender }]) =>
      refused[name] === undefined ? [] : [[factKeyOf(sender) ?? name, value] as const],
    ),
  )

/** The details that cannot be used, in the sender's words. */
export const refusedDetails = (
  { details }: Pick<SentFields, 'details'>,
  refused: Tidied['refused'],
): readonly RefusedDetail[] =>
  [...details].flatMap(([name, { sender: field }]) => {
    const reason = refused[name]
    return reason === undefined ? [] : [{ field, reason }]
  })

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

const longestPhone = 100
const extension = /[\s,;(]*(?:ext(?:ension|n)?|(?<![a-z])x|#)[.:=\s]*(\d{1,7})[\s)]*$/i

/** A telephone number, and the extension behind it, which is no part of it. */
const telephoneIn = (text: string | undefined) => {
  if (text === undefined) return undefined
  // What is longer is refused, and not looked through.
  if (text.length > longestPhone || isRounded(text)) return { number: text, extension: null }
  const found = extension.exec(text)
  const number = found ? text.slice(0, found.index) : text
  return { number: withoutWords(number) || text, extension: found?.[1] ?? null }
}

/** "tel: 07700 900123 (home)" */
const withoutWords = (phone: string): string =>
  phone
    .replaceAll(/[a-z:]+/gi, ' ')
    .replaceAll(/\(\s*\)/g, '')
    .trim()
