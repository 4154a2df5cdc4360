import { parseExactly, type SentJson } from '../exact-json.ts'
import { isUnseen } from '../invisible-characters.ts'
import { detailNamed, mayBePersons } from './field-names.ts'
import { fieldsDefinedIn, isObject, namedValueIn, type NamedValue } from './named-values.ts'
import { numberedNames } from './numbered-fields.ts'

export type Plain = string | number | boolean
export type Path = readonly string[]

/** One value of what was sent. */
export type Leaf = {
  /** Its path; in a list of named values, under its name. */
  readonly path: Path
  /** The parts of its key: a named value has one of its own, wherever its list stands. */
  readonly key: Path
  readonly value: Plain
  /** For every item of a list but the first: where the list stands. */
  readonly list?: Path | undefined
  /** Other names the sender gives it. */
  readonly names: readonly string[]
  /** The kind of field, as its sender says. */
  readonly kind: string | undefined
}

type LeafAt = Pick<Leaf, 'path' | 'key' | 'list' | 'names' | 'kind'>

const mostLeaves = 500
const deepest = 8
const longestValue = 2_000
const longestName = 200

/** Takes apart what was sent; an object or a list of named values as the fields that they are. */
export const leavesOf = (data: Readonly<Record<string, unknown>>, sentAsNumbers: readonly string[] = []) => {
  const leaves: Leaf[] = []
  const numbers = new Set(sentAsNumbers)
  let truncated = false
  const { names: defined, isDefinition } = fieldsDefinedIn(data, deepest)

  const tellTruncated = (): void => {
    truncated = true
  }

  const walk = (value: unknown, leafAt: LeafAt): void => {
    if (leaves.length >= mostLeaves || leafAt.path.length > deepest) return tellTruncated()
    if (Array.isArray(value)) return walkList(value, leafAt)
    if (isObject(value)) return walkObject(value, leafAt)
    if (!isSaid(value)) return
    if (typeof value === 'string') {
      const text = value.trim()
      const inner = text.startsWith('{') ? jsonIn(text) : undefined
      if (inner && isObject(inner.value)) {
        for (const number of inner.numbers) numbers.add(number)
        return walk(inner.value, leafAt)
      }
      if (text.length > longestValue) truncated = true
      leaves.push({ ...leafAt, value: text.slice(0, longestValue) })
    } else if (typeof value === 'boolean' || typeof value === 'number') leaves.push({ ...leafAt, value })
  }

  const walkObject = (sent: Readonly<Record<string, unknown>>, leafAt: LeafAt): void => {
    const whole = wholeOf(sent)
    if (whole !== undefined) return walk(whole, leafAt)
    const numbered = numberedNames(sent)
    for (const [key, inner] of Object.entries(sent)) {
      if (leaves.length >= mostLeaves) return tellTruncated()
      if (isObject(inner) && isDefinition(inner)) continue
      const field = isObject(inner) ? namedValueIn(inner, defined, key) : undefined
      const labels = defined.get(key) ?? []
      const at = within(leafAt, key)
      const names = [...labels, ...(numbered.get(key) ?? [])]
      if (field) walkField(field, leafAt, false)
      else walk(inner, { ...at, key: labels[0] === undefined ? at.key : [...leafAt.key, labels[0]], names })
    }
  }

  /** `count`: how many of a list were called the same before it, and with it. */
  const walkField = (field: NamedValue, leafAt: LeafAt, isOfList: boolean, count = 1): void => {
    const [name, ...names] = field.names
    const at = within(leafAt, name)
    const own = {
      ...at,
      key: isOfList && leafAt.path.every(mayBePersons) ? [name] : at.key,
      names,
      kind: field.kind,
      list: undefined,
    }
    const each = count === 1 ? own : { ...within(own, String(count)), list: own.path }
    walk(field.value, each)
    for (const [key, inner] of Object.entries(field.rest)) walk(inner, within(each, key))
  }

  const walkList = (items: readonly unknown[], leafAt: LeafAt): void => {
    const said = items.filter((item) => isSaid(item) && !(isObject(item) && isDefinition(item)))
    const contacts = isContactPoints(leafAt) ? contactPointsIn(said) : undefined
    const counts = new Map<string, number>()
    for (const [index, item] of (contacts ?? said).entries()) {
      if (leaves.length >= mostLeaves) return tellTruncated()
      const field = isObject(item) ? namedValueIn(item, defined) : undefined
      if (field) {
        const called = JSON.stringify(field.names)
        const count = (counts.get(called) ?? 0) + 1
        counts.set(called, count)
        walkField(field, leafAt, true, count)
      } else if (index === 0) walk(item, leafAt)
      else walk(item, { ...within(leafAt, String(index + 1)), list: leafAt.path })
    }
  }

  walk(data, { path: [], key: [], names: [], kind: undefined })
  return { leaves, numbers, truncated }
}

/** Of a longer name its beginning: each value within is called by it. */
const within = ({ path, key, list }: LeafAt, sent: string): LeafAt => {
  const name = sent.slice(0, longestName)
  return { path: [...path, name], key: [...key, name], names: [], kind: undefined, list }
}

/** A list that is called by a detail of a person: of what is in it, each is one, and is not called anything else. */
const isContactPoints = ({ path }: LeafAt): boolean =>
  ['email', 'phone_number'].includes(detailNamed(path.at(-1) ?? '') ?? '')

/** Telephone numbers or addresses with what they are used for, the one that is used first before all others. */
const contactPointsIn = (items: readonly unknown[]): readonly unknown[] | undefined => {
  const objects = items.filter(isObject)
  if (objects.length === 0 || !objects.every((item) => 'value' in item)) return undefined
  return [...objects.filter(isPrimary), ...objects.filter((item) => !isPrimary(item))]
    .map((item) => item['value'])
    .filter(isSaid)
}

const isPrimary = (item: Readonly<Record<string, unknown>>): boolean => item['primary'] === true

/** JSON that was sent within a text. */
const jsonIn = (text: string): SentJson | undefined => {
  try {
    return parseExactly(text)
  } catch {
    return undefined
  }
}

/** One value that was sent in parts: a date, a telephone number. */
const wholeOf = (sent: Readonly<Record<string, unknown>>): string | undefined => {
  const keys = Object.keys(sent).toSorted().join(' ')
  const part = (key: string): string => {
    const value = sent[key]
    return typeof value === 'string' || typeof value === 'number' ? String(value).trim() : ''
  }
  if (keys === 'full') return part('full')
  if (keys === 'area phone') return `${part('area')} ${part('phone')}`
  if (keys !== 'day month year') return undefined
  const [day, month, year] = ['day', 'month', 'year'].map(part)
  return day && month && year ? `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}` : ''
}

/** Forms send an empty choice before those that were made. JSON may hold numbers that are none for us. */
export const isSaid = (value: unknown): boolean => {
  if (typeof value === 'string') return !isUnseen(value)
  return typeof value === 'number' ? Number.isFinite(value) : value !== null
}
