import type { CustomerDetails } from '../customers/events.ts'
import { mostFacts } from '../leads/events.ts'
import { isUnseen } from '../unseen.ts'
import type { Declared, IngestContent } from './events.ts'

type Plain = string | number | boolean

/** A value that was sent, and what the sender calls the field. */
export type SentField = {
  readonly value: Plain
  readonly sender: string
  /** For every item of a list but the first: what the sender calls the list. */
  readonly list?: string
}

export type DetailName = keyof CustomerDetails | 'name' | 'external_id' | 'contact_id'

/** What a lead says, by our names where we know them. */
export type SentFields = {
  readonly details: ReadonlyMap<DetailName, SentField>
  /** Declared values by field key. */
  readonly declared: Declared
  /** The rest of the data by a key made of its path. */
  readonly others: ReadonlyMap<string, SentField>
  /** There was more than is read, or than a lead can hold. */
  readonly truncated: boolean
}

const names: Readonly<Record<DetailName, readonly string[]>> = {
  contact_id: ['contactid'],
  external_id: ['externalid', 'externalref', 'externalreference', 'crmid'],
  title: ['title', 'salutation', 'honorific'],
  first_name: ['firstname', 'forename', 'givenname', 'fname', 'christianname'],
  last_name: ['lastname', 'surname', 'familyname', 'lname', 'secondname'],
  name: ['name', 'fullname', 'yourname', 'contactname', 'customername'],
  email: ['email', 'emailaddress', 'mail', 'youremail', 'contactemail', 'workemail', 'homeemail'],
  phone_number: [
    'phone',
    'phonenumber',
    'telephone',
    'telephonenumber',
    'tel',
    'mobile',
    'mobilenumber',
    'mobilephone',
    'cell',
    'contactnumber',
    'daytimephone',
    'homephone',
    'yourphone',
  ],
  dob: ['dob', 'dateofbirth', 'birthdate', 'birthday', 'born'],
  postal_code: ['postalcode', 'postcode', 'zip', 'zipcode'],
  address_line1: ['addressline1', 'address1', 'line1', 'street', 'streetaddress', 'address'],
  address_line2: ['addressline2', 'address2', 'line2'],
  city: ['city', 'town', 'posttown'],
  country: ['country', 'countrycode'],
}

const byName: ReadonlyMap<string, DetailName> = new Map(
  Object.entries(names).flatMap(([name, aliases]) => aliases.map((alias) => [alias, name as DetailName] as const)),
)

const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')

/** Our name of a field that somebody calls by any of its usual names. */
export const detailNamed = (name: string): DetailName | undefined => byName.get(plain(name))

/**
 * What is declared is never interpreted: it is a detail only under our own name of one, and a date only as it is stored. All
 * of it is a fact, exactly as it was given.
 */
const detailDeclared = (key: string, value: Plain): DetailName | undefined => {
  if (key === 'phone') return 'phone_number'
  const name = Object.keys(names).find((each): each is DetailName => each === key)
  const needsReading = name === 'name' || (name === 'dob' && !/^\d{4}-\d{2}-\d{2}$/.test(String(value)))
  return needsReading ? undefined : name
}

const mostLeaves = 500
const deepest = 8
const longestValue = 2_000

/** All that was sent as fields. What a person says of themselves in `identity` comes before the same in `data`. */
export const sentFields = (content: IngestContent, fieldNames: Readonly<Record<string, string>> = {}): SentFields => {
  const details = new Map<DetailName, SentField>()
  const others = new Map<string, SentField>()
  const ours = new Map(Object.entries(fieldNames).map(([our, theirs]) => [plain(theirs), our]))
  const keep = (name: DetailName, field: SentField) => {
    if (!details.has(name)) details.set(name, field)
  }

  for (const [key, value] of Object.entries(content.identity ?? {})) {
    const name = detailNamed(key)
    if (name && value && isSaid(value)) keep(name, { value, sender: key })
  }
  const { leaves, truncated } = leavesOf(content.data ?? {})
  for (const { path, value, list } of leaves) {
    const last = path.at(-1) ?? ''
    const sender = path.join('.')
    const mapped = ours.get(plain(sender)) ?? ours.get(plain(last))
    const name = mapped === undefined ? detailAt(path) : detailNamed(mapped)
    if (name) keep(name, { value, sender })
    else {
      const key = mapped ?? keyOf(path)
      const field = { value, sender, ...(list && { list: list.join('.') }) }
      if (key !== undefined && !others.has(key)) others.set(key, field)
    }
  }
  for (const [key, value] of Object.entries(content.declared ?? {})) {
    if (value === null || Array.isArray(value) || !isSaid(value)) continue
    const name = detailDeclared(key, value)
    if (name) keep(name, { value, sender: key })
  }
  const declared = content.declared ?? {}
  return { details, declared, others, truncated: truncated || Object.keys(declared).length > mostFacts }
}

/** All that was sent in a field: of a list, every item. */
export const itemsOf = ({ others }: Pick<SentFields, 'others'>, { value, sender }: SentField): readonly Plain[] => [
  value,
  ...[...others.values()].filter(({ list }) => list === sender).map((item) => item.value),
]

/** What holds the details of a person, and of nobody and nothing else. */
const persons =
  /^(contact|contactdetails|person|personal|personaldetails|customer|customerdetails|lead|applicant|client|user|details|address|homeaddress|identity|fields|formfields|form|data|answers|payload|body|form_?data|values)$/

/** A name within something else, such as a product, is not the person's. */
const detailAt = (path: readonly string[]): DetailName | undefined =>
  path.slice(0, -1).every((parent) => persons.test(plain(parent))) ? detailNamed(path.at(-1) ?? '') : undefined

type Path = readonly string[]
type Leaf = { readonly path: Path; readonly value: Plain; readonly list?: Path | undefined }

const leavesOf = (data: Readonly<Record<string, unknown>>) => {
  const leaves: Leaf[] = []
  let truncated = false
  const walk = (value: unknown, path: Path, list?: Path): void => {
    if (leaves.length >= mostLeaves || path.length > deepest) {
      truncated = true
      return
    }
    if (Array.isArray(value)) {
      for (const [index, item] of value.filter(isSaid).entries())
        if (index === 0) walk(item, path)
        else walk(item, [...path, String(index + 1)], path)
      return
    }
    if (typeof value === 'object' && value !== null) {
      for (const [key, inner] of Object.entries(value)) walk(inner, [...path, key])
      return
    }
    if (!isSaid(value)) return
    if (typeof value === 'string') {
      const text = value.trim()
      if (text.length > longestValue) truncated = true
      leaves.push({ path, value: text.slice(0, longestValue), list })
    } else if (typeof value === 'boolean' || typeof value === 'number') leaves.push({ path, value, list })
  }
  walk(data, [])
  return { leaves, truncated }
}

/** Forms send an empty choice before those that were made. JSON may hold numbers that are none for us. */
const isSaid = (value: unknown): boolean => {
  if (typeof value === 'string') return !isUnseen(value)
  return typeof value === 'number' ? Number.isFinite(value) : value !== null
}

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

/** Whether a field that only machines fill was filled; in any part of what was sent. */
export const fillsTrap = (content: IngestContent, trapFields: readonly string[]): boolean => {
  if (trapFields.length === 0) return false
  const traps = new Set(trapFields.map(plain))
  const isFilled = ([key, value]: readonly [string, unknown]) =>
    traps.has(plain(key)) && value !== null && value !== '' && value !== false
  return (
    [...Object.entries(content.data ?? {}), ...Object.entries(content.declared ?? {})].some(isFilled) ||
    leavesOf(content.data ?? {}).leaves.some(
      ({ path, value }) => value !== false && path.some((key) => traps.has(plain(key))),
    )
  )
}
