import { z } from 'zod'
import { formsOf, isObject } from './unknown-keys.ts'

const nul = 'must not hold the character U+0000'
const halfPair = 'must be valid Unicode: it holds half of a surrogate pair'

const anyTexts = z.registry<{ readonly anyText: true }>()

/** A parameter of a query that ignores, or answers, what it cannot use, be it a text that cannot be stored. */
export const anyText = <Schema extends z.ZodType>(schema: Schema): Schema => {
  anyTexts.add(schema, { anyText: true })
  return schema
}

/** The parameters of a query that cannot be stored and matter: one that nobody knows is ignored whatever it holds. */
export const unusableParameters = (schema: z.ZodType | undefined, sent: object): readonly string[] => {
  // The shape of an object of which nothing more is known is of any schemas.
  const known: Readonly<Record<string, z.ZodType>> = schema instanceof z.ZodObject ? schema.shape : {}
  return Object.entries(sent)
    .filter(([name, value]) => {
      const parameter = known[name]
      return parameter !== undefined && !anyTexts.has(parameter) && String(value).includes('\0')
    })
    .map(([name]) => name)
}

/** The texts that cannot be stored, at their places. A key that cannot be is told of the mapping that it stands in. */
export const unusableTexts = (
  value: unknown,
  path: readonly PropertyKey[] = [],
): readonly (readonly [path: readonly PropertyKey[], reason: string])[] => {
  if (typeof value === 'string') {
    const reason = value.includes('\0') ? nul : value.isWellFormed() ? undefined : halfPair
    return reason === undefined ? [] : [[path, reason]]
  }
  if (Array.isArray(value)) return value.flatMap((each, index) => unusableTexts(each, [...path, index]))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, each]) => {
    const [ofKey] = unusableTexts(key, path)
    return ofKey ? [[path, `has a key that ${ofKey[1]}`] as const] : unusableTexts(each, [...path, key])
  })
}

/**
 * True where an operation checks by itself what is sent at a place: its schema takes anything there, or does not know the
 * place. A lead's `data` is any JSON, and what cannot be used of where a visitor came from is left out.
 */
const takesAnything = (schema: z.core.$ZodType, path: readonly PropertyKey[]): boolean => {
  const [first, ...rest] = path
  return formsOf(schema).every((form) => {
    if (form instanceof z.ZodUnknown) return true
    if (form instanceof z.ZodArray) return first !== undefined && takesAnything(form.element, rest)
    if (form instanceof z.ZodRecord) return takesAnything(form.valueType, rest)
    if (!isObject(form)) return false
    const part = Object.entries(form.shape).find(([key]) => key === first)?.[1]
    return part === undefined || takesAnything(part, rest)
  })
}

/** The texts of a body that cannot be stored, without those that its operation checks by itself. */
export const unusableTextsOf = (schema: z.core.$ZodType, body: unknown): ReturnType<typeof unusableTexts> =>
  unusableTexts(body).filter(([path]) => !takesAnything(schema, path))
