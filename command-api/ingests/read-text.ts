import { parsePhoneNumberFromString } from 'libphonenumber-js/max'
import type { CustomerDetails } from '#domain/customers/events.ts'
import type { RefusedDetail } from '#domain/ingests/events.ts'
import { detailNamed, type DetailName } from '#domain/ingests/field-names.ts'
import { isUsableKey, type SentField } from '#domain/ingests/fields.ts'
import { withoutUnseen } from '#domain/invisible-characters.ts'
import { dateIn, nameParts, refusedDetails, tidyDetails, type Reader } from './tidy.ts'

const longestText = 20_000
const unlabelled = 'text'

export type TextRead = {
  readonly details: Partial<CustomerDetails>
  /** Facts in lines such as `Cover wanted: £250,000`. */
  readonly facts: Readonly<Record<string, string>>
  readonly truncated: boolean
  /** Details in a line that cannot be used: they are among the facts, as they came. */
  readonly refused: readonly RefusedDetail[]
}

// Bounded, so that a long text takes time in proportion to its length. The end of a longer address is another's.
const email =
  /(?<![\p{L}\p{M}\p{N}_.+%&-])[\p{L}\p{M}\p{N}_.+%&-]{1,64}@[\p{L}\p{M}\p{N}-]{1,63}(?:\.[\p{L}\p{M}\p{N}-]{1,63}){1,5}/iu
const postcode = /\b[A-Z]{1,2}\d[A-Z\d]?\s*\d[A-Z]{2}\b/i
const called = /\b(?:[Mm]y name is|I am called|I'm called|[Tt]his is)\s+([A-Z][\p{L}'-]+(?:\s+[A-Z][\p{L}'-]+){0,2})/u
const born = /\b(?:born(?: on)?|dob|d\.o\.b\.?|date of birth(?: is)?|birthday(?: is)?)\s*[:=-]?\s*([^\n,;]{4,40})/i
const line = /^\s*([\p{L}][\p{L}\d _/-]{1,40}?)\s*[:=]\s*(\S.*)$/u

const phoneStart = /(?<![\d.,/])(?:\+|\(?0|7)/g
const digitGroup = /[\d\s().-]*?\d+(?!\d)/y
const mostPhones = 100
const longestPhone = 30
/** Mobile numbers kept free for trying things out: to the library they are none. */
const ofNobody = /^\+447700900\d{3}$/

/**
 * The first telephone number in a text: from where one may begin, so many groups of digits as make a valid one. The library
 * can look for them too, but takes seconds for a text that is made for that.
 */
const phoneIn = (text: string): string | undefined => {
  let starts = 0
  for (const { index } of text.matchAll(phoneStart)) {
    if (++starts > mostPhones) return undefined
    const rest = text.slice(index, index + longestPhone)
    digitGroup.lastIndex = rest.startsWith('+') ? 1 : 0
    while (digitGroup.test(rest)) {
      const written = rest.slice(0, digitGroup.lastIndex)
      const digits = written.replaceAll(/\D/g, '').length
      if (digits > 15) break
      const number = digits < 9 ? undefined : parsePhoneNumberFromString(written, 'GB')
      if (number && (number.isValid() || ofNobody.test(number.number))) return number.number
    }
  }
  return undefined
}

/** Reads what people write of themselves: their email address, phone, postcode, birthday and name, and lines of a form. */
export const readText = (text: string, reader: Reader): TextRead => {
  const read = withoutUnseen(text.slice(0, longestText))
  const found = new Map<DetailName, SentField>()
  const facts: Record<string, string> = {}
  const keep = (name: DetailName, value: string | null | undefined, sender = unlabelled) => {
    if (value && !found.has(name)) found.set(name, { value, sender })
  }

  for (const each of read.split(/\r?\n/, 500)) {
    const [, label, value] = line.exec(each.slice(0, 2_000)) ?? []
    if (label === undefined || value === undefined || value.startsWith('//')) continue
    const name = detailNamed(label)
    const key = label.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_')
    if (name) keep(name, value.trim(), label)
    else if (isUsableKey(key) && !Object.hasOwn(facts, key)) facts[key] = value.trim()
  }
  keep('email', email.exec(read)?.[0])
  keep('phone_number', phoneIn(read))
  keep('postal_code', postcode.exec(read)?.[0])
  const birthday = born.exec(read)?.[1]
  keep('dob', birthday === undefined ? undefined : dateIn(birthday, reader))
  const name = called.exec(read)?.[1]
  if (name !== undefined && !found.has('name') && !found.has('first_name')) {
    const { first_name, last_name } = nameParts(name)
    keep('first_name', first_name)
    keep('last_name', last_name)
  }
  const { details, refused, facts: ofDetails } = tidyDetails({ details: found }, reader)
  const { text: _, ...kept } = ofDetails
  return {
    details,
    facts: { ...Object.fromEntries(Object.entries(kept).map(([key, value]) => [key, String(value)])), ...facts },
    truncated: text.length > longestText,
    // What only looks like a postcode was not said to be one.
    refused: refusedDetails({ details: found }, refused).filter(({ field }) => field !== unlabelled),
  }
}
