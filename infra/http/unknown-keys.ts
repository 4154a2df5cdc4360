import { z } from 'zod'
import { inputPath } from './problem.ts'

type Schemas = readonly z.core.$ZodType[]

/** What a value may be, by its schema: the forms of a union each by itself. */
const formsOf = (schema: z.core.$ZodType): Schemas => {
  if (schema instanceof z.ZodPipe) return formsOf(schema.in)
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable)
    return formsOf(schema.unwrap())
  return schema instanceof z.ZodUnion ? schema.options.flatMap(formsOf) : [schema]
}

const noObjects = [z.ZodString, z.ZodNumber, z.ZodBoolean, z.ZodNull, z.ZodEnum, z.ZodLiteral, z.ZodArray] as const
type ObjectForm = z.ZodObject<Record<string, z.core.$ZodType>>
const isObject = (schema: z.core.$ZodType): schema is ObjectForm => schema instanceof z.ZodObject

/** The keys that objects of these forms may have; undefined where one takes any, or refuses others by itself. */
const knownKeys = (forms: Schemas): readonly string[] | undefined => {
  const objects = forms.filter((form) => !noObjects.some((kind) => form instanceof kind))
  const areKnown = objects.every((form) => isObject(form) && form.def.catchall === undefined)
  return objects.length > 0 && areKnown
    ? [...new Set(objects.filter(isObject).flatMap(({ shape }) => Object.keys(shape)))]
    : undefined
}

export type UnknownKey = {
  readonly path: readonly (string | number)[]
  /** The keys that are known there. */
  readonly known: readonly string[]
}

function* unknownIn(schemas: Schemas, value: unknown, at: UnknownKey['path']): Generator<UnknownKey> {
  if (schemas.length === 0 || typeof value !== 'object' || value === null) return
  const forms = schemas.flatMap(formsOf)
  if (Array.isArray(value)) {
    const elements = forms.flatMap((form) => (form instanceof z.ZodArray ? [form.element] : []))
    if (elements.length > 0)
      for (const [index, item] of value.entries()) yield* unknownIn(elements, item, [...at, index])
    return
  }
  const known = knownKeys(forms)
  const shapes = forms.filter(isObject).map(({ shape }) => shape)
  for (const [key, held] of Object.entries(value)) {
    const those = shapes.flatMap((shape): Schemas => {
      const own = Object.hasOwn(shape, key) ? shape[key] : undefined
      return own ? [own] : []
    })
    if (known && those.length === 0) yield { path: [...at, key], known }
    else yield* unknownIn(those, held, [...at, key])
  }
}

const mostNamed = 10
const longest = 100

/** The keys of a body that its schema does not know, however deep, the first of them. */
export const unknownKeysOf = (schema: z.ZodType, body: unknown): readonly UnknownKey[] =>
  unknownIn([schema], body, []).take(mostNamed).toArray()

export const nameOf = ({ path }: UnknownKey): string => inputPath(path).slice(0, longest).toWellFormed()

/** Names as the value of a header: percent-encoded where a header cannot hold them. */
export const headerOf = (names: readonly string[]): string =>
  names.map((name) => encodeURIComponent(name).replaceAll('%5B', '[').replaceAll('%5D', ']')).join(', ')
