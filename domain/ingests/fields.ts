import { mostFacts } from '../leads/events.ts'
import type { Declared, IngestContent } from './events.ts'
import { detailNamed, names, plain, type DetailName } from './field-names.ts'
import { isSaid, leavesOf, type Leaf, type Plain } from './leaves.ts'
import { detailsOfPerson, meaningOf, type Detail, type Meaning } from './whose-details.ts'

/** A value that was sent, and what the sender calls the field. */
export type SentField = {
  readonly value: Plain
  readonly sender: string
  /** For every item of a list but the first: what the sender calls the list. */
  readonly list?: string
}

/** A lead's fields, by our names where we know them. */
export type SentFields = {
  readonly details: ReadonlyMap<DetailName, SentField>
  /** Declared values by field key. */
  readonly declared: Declared
  /** The rest of the data by a key made of its path. */
  readonly others: ReadonlyMap<string, SentField>
  /** The texts among all these that were sent as numbers. */
  readonly numbers: ReadonlySet<string>
  /** There was more than is read, or than a lead can hold. */
  readonly truncated: boolean
}

/**
 * A declared value is never interpreted: it is a detail only under our own name of one, and a date only as it is stored. All
 * of them are facts, exactly as given.
 */
const detailDeclared = (key: string, value: Plain): DetailName | undefined => {
  if (key === 'phone') return 'phone_number'
  const name = Object.keys(names).find((each): each is DetailName => each === key)
  const needsReading = name === 'name' || (name === 'dob' && !/^\d{4}-\d{2}-\d{2}$/.test(String(value)))
  return needsReading ? undefined : name
}

/** All that was sent as fields. What a person says of themselves in `identity` comes before the same in `data`. */
export const sentFields = (content: IngestContent, fieldNames: Readonly<Record<string, string>> = {}): SentFields => {
  const details = new Map<DetailName, SentField>()
  const keep = (name: DetailName, field: SentField) => {
    if (!details.has(name)) details.set(name, field)
  }

  for (const [key, value] of Object.entries(content.identity ?? {})) {
    const name = detailNamed(key)
    if (name && value && isSaid(value)) keep(name, { value, sender: key })
  }
  const { leaves, numbers, truncated } = leavesOf(content.data ?? {}, content.numbers)
  const ours = new Map(Object.entries(fieldNames).map(([our, theirs]) => [plain(theirs), our]))
  const found = leaves.map((leaf) => ({ leaf, ...meaningOf(leaf, ours) }))
  const isPersons = detailsOfPerson(found)
  for (const { leaf, detail } of isPersons) keep(detail, fieldOf(leaf))
  const others = othersOf(found, isPersons, details)
  for (const [key, value] of Object.entries(content.declared ?? {})) {
    if (value === null || Array.isArray(value) || !isSaid(value)) continue
    const name = detailDeclared(key, value)
    if (name) keep(name, { value, sender: key })
  }
  const declared = content.declared ?? {}
  return { details, declared, others, numbers, truncated: truncated || Object.keys(declared).length > mostFacts }
}

const fieldOf = ({ path, value, list }: Leaf): SentField => ({
  value,
  sender: path.join('.'),
  ...(list && { list: list.join('.') }),
})

/** Fields that are no detail of the person, by keys of their own; also a detail that is another's, or was said before. */
const othersOf = (
  found: readonly Meaning[],
  isPersons: readonly Detail[],
  details: ReadonlyMap<DetailName, SentField>,
): ReadonlyMap<string, SentField> => {
  const others = new Map<string, SentField>()
  const persons = new Map(isPersons.map(({ leaf, detail }) => [leaf, detail]))
  for (const { leaf, mapped, detail } of found) {
    const name = persons.get(leaf)
    if (name && isSameText(details.get(name)?.value ?? '', leaf.value)) continue
    const keys = mapped === undefined || detail ? [leaf.key, leaf.path].map(keyOf) : [mapped]
    others.set(freeKey(keys.filter((key) => key !== undefined)), fieldOf(leaf))
  }
  return others

  /** A field named like another, or by nothing that makes a key, gets a number. */
  function freeKey(keys: readonly string[]): string {
    const [first = 'field'] = keys
    let key = keys.find((each) => !others.has(each)) ?? first
    for (let number = 2; others.has(key); number++) key = `${first.slice(0, 60)}_${number}`
    return key
  }
}

const isSameText = (one: Plain, other: Plain): boolean =>
  String(one).trim().toLowerCase() === String(other).trim().toLowerCase()

/** All that was sent in a field: of a list, every item. */
export const itemsOf = ({ others }: Pick<SentFields, 'others'>, { value, sender }: SentField): readonly Plain[] => [
  value,
  ...[...others.values()].filter(({ list }) => list === sender).map((item) => item.value),
]

/** The key of a fact that is made of what the sender calls a field; undefined when none can be made. */
export const factKeyOf = (sender: string): string | undefined => keyOf(sender.split('.'))

/** A field key made of a path; undefined when none can be made. */
const keyOf = (path: readonly string[]): string | undefined => {
  const key = path
    .join('_')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_|_$/g, '')
    .slice(0, 64)
  return isUsableKey(key) ? key : undefined
}

/** Not one that every object has already. */
export const isUsableKey = (key: string): boolean => /^[a-z0-9_.-]{1,64}$/.test(key) && !(key in Object.prototype)

/** A field that only machines fill was filled; in any part of what was sent. */
export const fillsTrap = (content: IngestContent, trapFields: readonly string[]): boolean => {
  if (trapFields.length === 0) return false
  const traps = new Set(trapFields.map(plain))
  const isFilled = ([key, value]: readonly [string, unknown]) =>
    traps.has(plain(key)) && value !== null && value !== '' && value !== false
  return (
    [...Object.entries(content.data ?? {}), ...Object.entries(content.declared ?? {})].some(isFilled) ||
    leavesOf(content.data ?? {}).leaves.some(
      ({ path, names, value }) => value !== false && [...path, ...names].some((key) => traps.has(plain(key))),
    )
  )
}
