import type { CustomerDetails } from '#domain/customers/events.ts'
import { plain } from '#domain/ingests/field-names.ts'
import { isUsableKey, itemsOf, type SentField, type SentFields } from '#domain/ingests/fields.ts'
import type { IngestContent, RefusedDetail } from '#domain/ingests/events.ts'
import { unitsIn } from '#domain/money.ts'
import type { CustomField } from '#domain/pipeline/events.ts'
import type { Facts, FactValue } from '#domain/leads/events.ts'
import type { OrganisationId } from '#domain/values.ts'
import { readText } from './read-text.ts'
import { dateIn, type Reader } from './tidy.ts'

/** The input of a reader. */
export type ReadingMaterial = Reader & {
  readonly organisation_id: OrganisationId
  readonly content: Pick<IngestContent, 'data' | 'text'>
  /** The data, taken apart. */
  readonly fields: SentFields
  /** The facts that the organisation wants to know. */
  readonly wanted: readonly CustomField[]
  /** The organisation's. */
  readonly currency: string
}

export type Reading =
  | {
      readonly outcome: 'read'
      readonly details: Partial<CustomerDetails>
      readonly facts: Facts
      /** There was more than could be read. */
      readonly truncated: boolean
      /** Details that a line of the text names and that cannot be used. */
      readonly refused: readonly RefusedDetail[]
    }
  /** Not now, but later: it was not reached, or has no capacity or budget left. */
  | {
      readonly outcome: 'deferred'
      readonly reason: string
      /** Left out: after a while. */
      readonly retry_at?: string
      /** True where it was tried: there are five tries. */
      readonly isTry: boolean
    }
  | { readonly outcome: 'unreadable'; readonly reason: string }

/** Turns any JSON and free text into facts about a person. */
export type LeadReader = {
  /** The reading that needs nobody's help; undefined where somebody must be asked. */
  readonly readAtOnce: (material: ReadingMaterial) => Reading | undefined
  readonly read: (material: ReadingMaterial) => Promise<Reading>
}

const mostFactsRead = 200

/** Reads without anybody's help: names of fields, values by their form, and what people usually write. */
export const readDeterministically = ({
  content,
  fields,
  wanted,
  currency,
  today,
  time_zone,
}: ReadingMaterial): Reading => {
  const text = content.text === null ? undefined : readText(content.text, { today, time_zone })
  const found = [...together(fields, wanted), ...Object.entries(text?.facts ?? {})]
  const facts = factsOf(found, wanted, currency)
  return {
    outcome: 'read',
    details: text?.details ?? {},
    facts: Object.fromEntries(Object.entries(facts).slice(0, mostFactsRead)),
    refused: text?.refused ?? [],
    truncated: fields.truncated || (text?.truncated ?? false) || Object.keys(facts).length > mostFactsRead,
  }
}

/** The items of a list are fields of their own, but for a fact that can hold several. */
const together = (
  fields: Pick<SentFields, 'others' | 'numbers'>,
  wanted: readonly CustomField[],
): readonly (readonly [key: string, value: FactValue])[] => {
  const isOfSeveral = (key: string) => fieldNamed(key, wanted)?.type === 'choices'
  const others = [...fields.others]
  const lists = new Set(others.filter(([key]) => isOfSeveral(key)).map(([, { sender }]) => sender))
  return others
    .filter(([, { list }]) => list === undefined || !lists.has(list))
    .map(([key, field]) => [key, isOfSeveral(key) ? [...itemsOf(fields, field)] : valueOf(key, field.value)] as const)

  /** The numeric value of a fact that is a number, and not how it was written. */
  function valueOf(key: string, value: SentField['value']): SentField['value'] {
    const isNumber = typeof value === 'string' && fields.numbers.has(value)
    return isNumber && /^(number|money)$/.test(fieldNamed(key, wanted)?.type ?? '') ? Number(value) : value
  }
}

const fieldNamed = (key: string, wanted: readonly CustomField[]): CustomField | undefined =>
  wanted.find((each) => plain(each.key) === plain(key) || plain(each.label) === plain(key))

/** Values as facts: under the keys that the organisation has set up, where one fits, and of their types. */
export const factsOf = (
  found: readonly (readonly [key: string, value: FactValue])[],
  wanted: readonly CustomField[],
  currency: string,
): Facts => {
  const facts: Record<string, FactValue> = {}
  for (const [key, value] of found) {
    const field = fieldNamed(key, wanted)
    const name = field?.key ?? key
    const typed = field ? asTyped(field, value, currency) : value
    if (isUsableKey(name) && typed !== undefined && !Object.hasOwn(facts, name)) facts[name] = typed
  }
  return facts
}

/** A value as one of the field's type; undefined when it is none, and so tells nothing. */
const asTyped = ({ type, options }: CustomField, value: FactValue, currency: string): FactValue | undefined => {
  const text = Array.isArray(value) ? value.join(', ') : String(value).trim()
  switch (type) {
    case 'text':
      return text
    case 'number':
      return numberIn(text)
    case 'money': {
      // Whole numbers that were sent as numbers are pence already, as everywhere in the API.
      const pence = typeof value === 'number' ? value : Math.round(Number(numberIn(text)) * unitsIn(currency))
      return Number.isSafeInteger(pence) ? pence : undefined
    }
    case 'date':
      return dateIn(text)
    case 'boolean':
      if (/^(yes|y|true|1|on)$/i.test(text)) return true
      return /^(no|n|false|0|off)$/i.test(text) ? false : undefined
    case 'choice':
      return options.find((option) => plain(option) === plain(text))
    case 'choices': {
      const isOption = (part: string) => options.some((option) => plain(option) === plain(part))
      const parts = [value].flat().flatMap((item) => (isOption(String(item)) ? String(item) : String(item).split(',')))
      const chosen = options.filter((option) => parts.map(plain).includes(plain(option)))
      return chosen.length > 0 ? chosen : undefined
    }
  }
}

const numberIn = (text: string): number | undefined => {
  const [, digits, unit] = /^\p{Sc}?\s*(-?\d[\d,]*(?:\.\d+)?)\s*([km])?$/iu.exec(text) ?? []
  if (digits === undefined) return undefined
  const factor = unit === undefined ? 1 : unit.toLowerCase() === 'k' ? 1_000 : 1_000_000
  const number = Number(digits.replaceAll(',', '')) * factor
  return Number.isFinite(number) ? number : undefined
}
