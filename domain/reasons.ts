import { z } from 'zod'

type Issue = z.core.$ZodIssue
type RawIssue = z.core.$ZodRawIssue

/** Why a part of a value does not fit its schema. */
export type Reason = { readonly path: readonly PropertyKey[]; readonly reason: string }

/**
 * Says in plain words what to send instead. Given to a parse as its `error`, so that a message of the schema's own comes
 * first.
 */
export const plainWords: z.core.$ZodErrorMap = (issue) => {
  const missing = whatIsMissing(issue)
  if (missing !== undefined) return missing
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${isWhole(issue) ? types['int'] : (types[issue.expected] ?? 'another type of value')}`
    case 'invalid_value':
      return issue['expected'] === 'stringbool' ? 'must be true or false' : oneOf(issue.values)
    case 'invalid_format':
      return formatted(issue)
    case 'too_small':
      return tooSmall(issue)
    case 'too_big':
      return tooBig(issue)
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`
    case 'unrecognized_keys':
      return unknownKey(knownBy(issue.inst))
    case 'invalid_union':
      return alternatives(issue)
    case 'invalid_key':
      return `has a key that cannot be used: it ${issue.issues[0]?.message ?? cannotBeUsed}`
    case 'invalid_element':
      return `has an item that cannot be used: it ${issue.issues[0]?.message ?? cannotBeUsed}`
    case 'custom':
      return cannotBeUsed
  }
}

const cannotBeUsed = 'cannot be used'

/**
 * Null may stand where nothing is required, so it is not said to be. A discriminated union refuses its whole object when
 * the key that it is chosen by is not one of those known.
 */
const whatIsMissing = (issue: RawIssue): string | undefined => {
  const value: unknown =
    issue.code === 'invalid_union' && issue.discriminator !== undefined
      ? (issue.input as Readonly<Record<string, unknown>>)[issue.discriminator] // only an object comes so far
      : issue.input
  if (value === undefined) return 'required'
  return value === null ? 'must not be null' : undefined
}

/** A value that is no number is refused before the check for whole ones. */
const isWhole = ({ inst, expected }: RawIssue & { readonly code: 'invalid_type' }): boolean =>
  expected === 'number' && inst !== undefined && 'format' in inst._zod.def && inst._zod.def.format === 'safeint'

export const unknownKey = (known: readonly string[]): string =>
  known.length === 0
    ? 'is not known here'
    : `is not known here; there ${known.length === 1 ? 'is' : 'are'} ${known.join(', ')}`

/** The keys that an object of this schema can have. */
const knownBy = (schema: unknown): readonly string[] => {
  if (schema instanceof z.core.$ZodObject) return Object.keys(schema._zod.def.shape)
  if (schema instanceof z.core.$ZodRecord) return [...(schema._zod.def.keyType._zod.values ?? [])].map(String)
  return []
}

const types: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  bigint: 'a whole number',
  boolean: 'true or false',
  date: 'a date',
  array: 'a list',
  tuple: 'a list',
  set: 'a list',
  object: 'an object',
  record: 'an object',
  map: 'an object',
  null: 'null',
  undefined: 'left out',
  never: 'left out',
}

const oneOf = (values: readonly unknown[]): string =>
  values.length === 1 ? `must be ${String(values[0])}` : `must be one of ${values.map(String).join(', ')}`

const formats: Readonly<Record<string, string>> = {
  email: 'an email address',
  url: 'a web address, such as https://example.com',
  uuid: 'a UUID',
  guid: 'a UUID',
  datetime: 'a date and time, as YYYY-MM-DDTHH:MM:SSZ',
  time: 'a time, as HH:MM:SS',
  duration: 'a duration, such as P1DT2H',
  ipv4: 'an IPv4 address',
  ipv6: 'an IPv6 address',
  base64: 'base64',
  base64url: 'base64url',
  json_string: 'JSON',
}

/** Why something is no date: 29 February of a common year is written as one. */
export const noDate = (sent: unknown): string =>
  typeof sent === 'string' && /^\d{4}-\d\d-\d\d$/.test(sent)
    ? 'must be a date that is in the calendar'
    : 'must be a date, as YYYY-MM-DD'

const formatted = (issue: RawIssue & { readonly code: 'invalid_format' }): string => {
  const { format } = issue
  if (format === 'regex') return `must match the pattern ${String(issue.pattern)}`
  if (format === 'starts_with') return `must begin with ${String(issue['prefix'])}`
  if (format === 'ends_with') return `must end with ${String(issue['suffix'])}`
  if (format === 'includes') return `must contain ${String(issue['includes'])}`
  return format === 'date' ? noDate(issue.input) : `must be ${formats[format] ?? `in the format ${format}`}`
}

const units: Readonly<Record<string, readonly [one: string, many: string]>> = {
  string: ['character', 'characters'],
  array: ['item', 'items'],
  set: ['item', 'items'],
  map: ['entry', 'entries'],
  file: ['byte', 'bytes'],
}

type Bound = { readonly origin: string; readonly exact?: boolean; readonly inclusive?: boolean }

const tooSmall = (issue: Bound & { readonly minimum: number | bigint }): string => {
  const { origin, exact = false, inclusive = true, minimum } = issue
  if (origin === 'date') return `must not be before ${dateOf(minimum)}`
  const unit = units[origin]
  if (!unit) return inclusive ? `must be at least ${minimum}` : `must be above ${minimum}`
  if (origin === 'string' && minimum === 1 && !exact) return 'must not be empty'
  return `must have ${exact ? 'exactly' : 'at least'} ${counted(minimum, unit)}`
}

const tooBig = (issue: Bound & { readonly maximum: number | bigint }): string => {
  const { origin, exact = false, inclusive = true, maximum } = issue
  if (origin === 'date') return `must not be after ${dateOf(maximum)}`
  const unit = units[origin]
  if (!unit) return inclusive ? `must be at most ${maximum}` : `must be below ${maximum}`
  return `must have ${exact ? 'exactly' : 'at most'} ${counted(maximum, unit)}`
}

const dateOf = (milliseconds: number | bigint): string => new Date(Number(milliseconds)).toISOString().slice(0, 10)

const counted = (count: number | bigint, [one, many]: readonly [string, string]): string =>
  `${count} ${Number(count) === 1 ? one : many}`

const alternatives = (issue: RawIssue & { readonly code: 'invalid_union' }): string => {
  if (Array.isArray(issue.options)) return oneOf(issue.options.filter((option) => option !== undefined))
  if (issue.inclusive === false) return 'fits more than one of the forms that are possible here: send only one'
  const reasons = issue.errors.flatMap(([first]) => (first?.path.length === 0 ? [first.message] : []))
  const [first, ...others] = new Set(reasons)
  if (first === undefined) return 'fits none of the forms that are possible here'
  return [first, ...others.map((other) => other.replace(/^must be /, ''))].join(' or ')
}

/** The faults, part by part. Of alternatives that all fail, the one that fits furthest says what is missing. */
export const reasonsOf = (issues: readonly Issue[]): readonly Reason[] =>
  issues.flatMap((issue): readonly Reason[] => {
    const { path, message } = issue
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => ({ path: [...path, key], reason: message }))
    if (issue.code === 'invalid_union' && issue.errors.length > 0) {
      const [nearest = []] = issue.errors.toSorted((one, other) => depthOf(other) - depthOf(one))
      if (depthOf(nearest) > 0) return reasonsOf(nearest).map((inner) => ({ ...inner, path: [...path, ...inner.path] }))
    }
    return [{ path, reason: message }]
  })

const depthOf = (issues: readonly Issue[]): number => Math.max(0, ...issues.map(({ path }) => path.length))
