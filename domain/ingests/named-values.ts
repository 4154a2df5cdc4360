import { detailNamed, plain } from './field-names.ts'

/** An object that says what a field is called and what stands in it, as form services send it. */
export type NamedValue = {
  /** All its names; one that a person would use comes first. */
  readonly names: readonly [string, ...string[]]
  readonly value: unknown
  /** The kind of field. */
  readonly kind: string | undefined
  /** The rest of the object. */
  readonly rest: Readonly<Record<string, unknown>>
}

/** The names that the same lead gives a field elsewhere, by the field's id. */
export type FieldNames = ReadonlyMap<string, readonly string[]>

type Sent = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is Sent =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Keys that hold its name: those meant for machines and readable come first. */
const nameKeys = [
  'predefinedfield',
  'name',
  'columnid',
  'fieldname',
  'field',
  'property',
  'slug',
  'key',
  'label',
  'title',
  'question',
  'text',
  'columnname',
]
const idKeys = ['id', 'ref', 'questionid', 'fieldid']
const valueKeys = ['value', 'values', 'answer', 'answers', 'stringvalue', 'answerdetails']
/** Keys that describe the field, not the person. */
const aboutField =
  /^(type|required|order|options|objecttypeid|rawvalue|prettyformat|sublabels|versions|timestamp|source\w*|placeholder|description|questiondetails|responserequired|responseeditable)$/

const byPlainKey = (sent: Sent): ReadonlyMap<string, unknown> =>
  new Map(Object.entries(sent).map(([key, value]) => [plain(key), value]))

/** A name that only a machine has given: "question_3EKz4n". */
const isOpaque = (name: string): boolean =>
  detailNamed(name) === undefined && (/\d/.test(name) || /^(question|field|input|block|answer|item)[_-]/.test(name))

const said = (value: unknown): readonly string[] =>
  typeof value === 'number' || (typeof value === 'string' && value.trim() !== '') ? [String(value).trim()] : []

/** A field's name in the first language that it has. */
const localized = (value: unknown): unknown =>
  isObject(value) && isObject(value['localized']) ? Object.values(value['localized'])[0] : value

const idsIn = (parts: ReadonlyMap<string, unknown>): readonly string[] => {
  const field = parts.get('field')
  const inner = isObject(field) ? idKeys.flatMap((key) => said(field[key])) : []
  return [...inner, ...idKeys.flatMap((key) => said(parts.get(key)))]
}

const namesIn = (parts: ReadonlyMap<string, unknown>): readonly string[] =>
  nameKeys.flatMap((key) => said(localized(parts.get(key))))

const kindIn = (parts: ReadonlyMap<string, unknown>): string | undefined => said(parts.get('type'))[0]

const valueKeyOf = (parts: ReadonlyMap<string, unknown>): string | undefined => {
  const kind = plain(kindIn(parts) ?? '')
  // The value may stand under the name of its kind: { type: 'email', email: … }.
  return (
    valueKeys.find((key) => parts.has(key)) ?? (parts.has('field') && kind !== '' && parts.has(kind) ? kind : undefined)
  )
}

/**
 * Reads an object as a field with a name and a value; undefined when it is none. `key` is the name under which it stands in
 * an object. What it says beyond that is kept; something of its own that happens to have a value is no field.
 */
export const namedValueIn = (sent: Sent, defined: FieldNames, key?: string): NamedValue | undefined => {
  const parts = byPlainKey(sent)
  const valueKey = valueKeyOf(parts)
  if (valueKey === undefined) return undefined
  const ids = idsIn(parts)
  const own = [...(key === undefined ? [] : [key]), ...ids.flatMap((id) => defined.get(id) ?? []), ...namesIn(parts)]
  const called = [...own, ...ids]
  const names = [...called.filter((name) => !isOpaque(name)), ...called.filter(isOpaque)]
  const kind = kindIn(parts)
  const [first = kind, ...more] = names
  if (first === undefined) return undefined
  const known = new Set([valueKey, ...nameKeys, ...idKeys, 'type'])
  const rest = Object.entries(sent).filter(([part]) => !known.has(plain(part)) && !aboutField.test(plain(part)))
  if (key !== undefined && rest.length > 0) return undefined
  const value = chosen(unwrapped(parts.get(valueKey)), parts.get('options'))
  if (!isValue(value, valueKey)) return undefined
  return { names: [first, ...more], value, kind, rest: Object.fromEntries(rest) }
}

/** A form's content is no field value: only a plain value is, a list of those, and a value sent in parts. */
const isValue = (value: unknown, valueKey: string): boolean => {
  const isPlain = (each: unknown) => typeof each !== 'object' || each === null
  if (!isObject(value)) return isPlain(value) || (Array.isArray(value) && value.every(isPlain))
  return valueKey !== 'values' && valueKey !== 'answers' && Object.values(value).every(isPlain)
}

/** { choice: { label: … } }, { textQuestionAnswer: { answer: … } } */
const unwrapped = (value: unknown): unknown => {
  if (!isObject(value)) return value
  const parts = byPlainKey(value)
  const within = ['label', 'labels', 'answer', 'answers', 'options', 'value'].find((key) => parts.has(key))
  if (within !== undefined) return parts.get(within)
  const inner = Object.values(value)
  return inner.length === 1 && isObject(inner[0]) ? unwrapped(inner[0]) : value
}

/** The chosen options by their text, where only their ids were sent. */
const chosen = (value: unknown, options: unknown): unknown => {
  if (!Array.isArray(options)) return value
  const texts = new Map(
    options.filter(isObject).flatMap((option) => {
      const [text] = ['text', 'label', 'name'].flatMap((key) => said(option[key]))
      return text === undefined ? [] : said(option['id']).map((id) => [id, text] as const)
    }),
  )
  const textOf = (item: unknown): unknown => texts.get(String(item)) ?? item
  return Array.isArray(value) ? value.map(textOf) : textOf(value)
}

/** Names of a form's fields, and the objects that define them: those say nothing of the person. */
export const fieldsDefinedIn = (data: unknown, deepest: number) => {
  const names = new Map<string, readonly string[]>()
  const definitions = new Map<object, readonly string[]>()
  const answered = new Set<string>()
  const look = (value: unknown, depth: number): void => {
    if (depth > deepest || typeof value !== 'object' || value === null) return
    if (isObject(value)) visit(value)
    for (const inner of Object.values(value)) look(inner, depth + 1)
  }
  const visit = (value: Sent): void => {
    if (isObject(value['_labels'])) labels(value['_labels'])
    const parts = byPlainKey(value)
    const ids = idsIn(parts)
    const called = namesIn(parts)
    if (valueKeyOf(parts) !== undefined) for (const id of ids) answered.add(id)
    else if (ids.length > 0 && called.length > 0) {
      for (const id of ids) if (!names.has(id)) names.set(id, called)
      definitions.set(value, ids)
    }
  }
  /** The label of a field, or those of its parts, by its number. */
  const labels = (sent: Sent): void => {
    definitions.set(sent, [])
    for (const [id, label] of Object.entries(sent)) if (typeof label === 'string') names.set(id, [label])
  }
  look(data, 0)
  const isDefinition = (value: object): boolean => {
    const ids = definitions.get(value)
    return ids !== undefined && (ids.length === 0 || ids.some((id) => answered.has(id)))
  }
  return { names, isDefinition }
}
