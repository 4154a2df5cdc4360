import type { LeadRule } from '../campaigns/events.ts'
import { longestMatchedText, matchesPattern } from '../pattern.ts'
import { ageLastBirthday } from '../rating/age.ts'
import { entry } from '../rating/answers.ts'
import type { IngestConsent, RuleFailure } from './events.ts'
import { detailNamed, type DetailName } from './field-names.ts'
import { itemsOf, type SentField, type SentFields } from './fields.ts'

/** Checks of a text's format, by libraries that the domain does not know. */
export type Formats = {
  readonly email: (text: string) => boolean
  readonly phone: (text: string) => boolean
  readonly postcode: (text: string) => boolean
  /** The date that a text names, `YYYY-MM-DD`. */
  readonly date: (text: string) => string | undefined
}

export type RuleFacts = {
  readonly fields: SentFields
  /** Details that were sent and cannot be used, and why. */
  readonly refused: Readonly<Partial<Record<DetailName, string>>>
  readonly consent: IngestConsent | null
  /** The sender's names, by our field key. */
  readonly fieldNames: Readonly<Record<string, string>>
  readonly formats: Formats
  /** The organisation's date, `YYYY-MM-DD`. */
  readonly today: string
}

/** The rules that a lead does not meet, but for those about other leads of the same person. */
export const unmetRules = (rules: readonly LeadRule[], facts: RuleFacts): readonly RuleFailure[] =>
  rules.flatMap((rule) => {
    const failure = failureOf(rule, facts)
    return failure ? [failure] : []
  })

const failureOf = (rule: LeadRule, facts: RuleFacts): RuleFailure | undefined => {
  if (rule.rule === 'no_duplicate') return undefined
  if (rule.rule === 'consent') return consentFailure(rule, facts)
  const found = valueOf(rule.field, facts.fields)
  const failed = (reason: string): RuleFailure => ({
    field: found?.sender ?? entry(facts.fieldNames, rule.field) ?? rule.field,
    rule: rule.rule,
    reason,
  })
  if (rule.rule === 'required') {
    const unusable = whyUnusable(rule.field, facts)
    if (!found) return failed('is missing')
    return unusable === undefined ? undefined : failed(`cannot be used: ${unusable}`)
  }
  // Whether a field must be there is a rule of its own.
  if (!found) return undefined
  const text = String(found.value)
  switch (rule.rule) {
    case 'format': {
      const wrong = formatFault(rule, text, facts)
      return wrong === undefined ? undefined : failed(wrong)
    }
    case 'allowed_values':
      return found.items.every((item) =>
        rule.values.some((value) => writtenAs(item, facts.fields).includes(value.toLowerCase())),
      )
        ? undefined
        : failed(`must be one of ${rule.values.join(', ')}`)
    case 'age_range': {
      const date = facts.formats.date(text)
      if (date === undefined || date > facts.today) return failed('is not a date of birth')
      const age = ageLastBirthday(date, facts.today)
      if (age < (rule.min ?? 0)) return failed(`is the birthday of somebody under ${rule.min}`)
      if (age > (rule.max ?? Infinity)) return failed(`is the birthday of somebody over ${rule.max}`)
      return undefined
    }
    case 'postcode_range': {
      if (!facts.formats.postcode(text)) return failed('is not a UK postcode')
      if (rule.allowed && !rule.allowed.some((area) => isWithin(text, area)))
        return failed('is outside the area of the campaign')
      if (rule.excluded?.some((area) => isWithin(text, area))) return failed('is in an area that is excluded')
      return undefined
    }
  }
}

/** `items`: each that a list holds. */
type Found = Pick<SentField, 'value' | 'sender'> & { readonly items: readonly unknown[] }

const valueOf = (key: string, fields: SentFields): Found | undefined => {
  const { details, declared, others } = fields
  const name: DetailName | undefined = detailNamed(key)
  if (name) {
    const found = detailOf(name, details)
    return found && { ...found, items: [found.value] }
  }
  const own = Object.hasOwn(declared, key) ? declared[key] : undefined
  const items = [own ?? []].flat().filter((item) => item !== null && item !== '')
  if (items.length > 0) return { value: items.join(', '), sender: key, items }
  const other = others.get(key)
  return other && { ...other, items: itemsOf(fields, other) }
}

/** The ways to write a value: 1.0, where it was sent as a number, is 1, too. */
const writtenAs = (item: unknown, { numbers }: SentFields): readonly string[] => {
  const text = String(item)
  return numbers.has(text) ? [text.toLowerCase(), String(Number(text))] : [text.toLowerCase()]
}

const detailOf = (name: DetailName, details: SentFields['details']): SentField | undefined => {
  const found = details.get(name)
  if (found) return found
  // Both parts of a name, or the whole of it.
  if (name === 'name') return details.get('last_name') ?? details.get('first_name')
  if (name === 'first_name' || name === 'last_name') {
    const whole = details.get('name')
    return whole && String(whole.value).trim().includes(' ') ? whole : undefined
  }
  return undefined
}

/** Why nothing is kept of a detail that was sent; undefined when something is. Of a name, one of its parts is enough. */
const whyUnusable = (key: string, { fields: { details }, refused }: RuleFacts): string | undefined => {
  const name = detailNamed(key)
  if (!name) return undefined
  if (details.has(name)) return refused[name]
  const parts = (name === 'name' ? (['first_name', 'last_name'] as const) : (['name'] as const)).filter((part) =>
    details.has(part),
  )
  return parts.every((part) => refused[part] !== undefined) ? parts.map((part) => refused[part])[0] : undefined
}

const formatFault = (
  { format, pattern }: Extract<LeadRule, { rule: 'format' }>,
  text: string,
  { formats, fields }: RuleFacts,
): string | undefined => {
  switch (format) {
    case 'email':
      return formats.email(text) ? undefined : 'is not an email address'
    case 'phone':
      return formats.phone(text) ? undefined : 'is no telephone number that anybody can have'
    case 'postcode':
      return formats.postcode(text) ? undefined : 'is not a UK postcode'
    case 'date':
      return formats.date(text) === undefined ? 'is not a date' : undefined
    case 'number':
      return fields.numbers.has(text) || /^[-+]?\p{Sc}?\s*\d[\d,]*(\.\d+)?$/u.test(text.trim())
        ? undefined
        : 'is not a number'
    case 'pattern':
      return text.length <= longestMatchedText && matchesPattern(pattern ?? '', text)
        ? undefined
        : 'does not have the form that is asked for'
  }
}

/** An area (`LS`) has no digit after it that belongs to it: `L` is Liverpool and not Leeds. A district may be `LS1`. */
const isWithin = (postcode: string, area: string): boolean => {
  const compact = postcode.replaceAll(/\s/g, '').toUpperCase()
  const wanted = area.replaceAll(/\s/g, '').toUpperCase()
  const outward = compact.slice(0, -3)
  return /^[A-Z]+$/.test(wanted) ? /^[A-Z]+/.exec(outward)?.[0] === wanted : outward === wanted || compact === wanted
}

const consentFailure = (
  { rule, purpose, channel }: Extract<LeadRule, { rule: 'consent' }>,
  { consent }: RuleFacts,
): RuleFailure | undefined => {
  const given = consent?.purposes[purpose] ?? {}
  const isGiven = channel ? given[channel] === true : Object.values(given).includes(true)
  if (isGiven) return undefined
  const field = ['consent', purpose, ...(channel ? [channel] : [])].join('.')
  return { field, rule, reason: 'is not given' }
}
