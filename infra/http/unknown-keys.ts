import { z } from 'zod'
import { inputPath } from './problem.ts'

type Schemas = readonly z.core.$ZodType[]

/** The forms of a value, by its schema: those of a union each by itself. */
export const formsOf = (schema: z.core.$ZodType): Schemas => {
  if (schema instanceof z.ZodPipe) return formsOf(schema.in)
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable)
    return formsOf(schema.unwrap())
  return schema instanceof z.ZodUnion ? schema.options.flatMap(formsOf) : [schema]
}

const noObjects = [z.ZodString, z.ZodNumber, z.ZodBoolean, z.ZodNull, z.ZodEnum, z.ZodLiteral, z.ZodArray] as const
type ObjectForm = z.ZodObject<Record<string, z.core.$ZodType>>
export const isObject = (schema: z.core.$ZodType): schema is ObjectForm => schema instanceof z.ZodObject

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

/**
 * The schema's view of a place in a body: worked out when something is first sent there, since every request is looked
 * through.
 */
type KeysThere = {
  readonly known: readonly string[] | undefined
  readonly elements: () => KeysThere | undefined
  readonly parts: ReadonlyMap<string, () => KeysThere | undefined>
}

const once = <Made>(make: () => Made): (() => Made) => {
  let made: { readonly value: Made } | undefined
  return () => (made ??= { value: make() }).value
}

const keysThere = (schemas: Schemas): KeysThere | undefined => {
  if (schemas.length === 0) return undefined
  const forms = schemas.flatMap(formsOf)
  const shapes = forms.filter(isObject).map(({ shape }) => shape)
  const partOf = (key: string): Schemas =>
    shapes.flatMap((shape) => {
      const own = Object.hasOwn(shape, key) ? shape[key] : undefined
      return own ? [own] : []
    })
  return {
    known: knownKeys(forms),
    elements: once(() => keysThere(forms.flatMap((form) => (form instanceof z.ZodArray ? [form.element] : [])))),
    parts: new Map(
      shapes.flatMap((shape) => Object.keys(shape)).map((key) => [key, once(() => keysThere(partOf(key)))]),
    ),
  }
}

const wholeOf = new WeakMap<z.core.$ZodType, KeysThere | undefined>()

const keysOfWhole = (schema: z.core.$ZodType): KeysThere | undefined => {
  if (!wholeOf.has(schema)) wholeOf.set(schema, keysThere([schema]))
  return wholeOf.get(schema)
}

type Found = { readonly named: UnknownKey[]; count: number }

const find = (there: KeysThere | undefined, value: unknown, at: UnknownKey['path'], found: Found): void => {
  if (!there || typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    const elements = there.elements()
    if (elements) for (const [index, item] of value.entries()) find(elements, item, [...at, index], found)
    return
  }
  for (const [key, held] of Object.entries(value)) {
    const part = there.parts.get(key)
    if (part) {
      if (typeof held === 'object' && held !== null) find(part(), held, [...at, key], found)
    } else if (there.known) {
      found.count++
      if (found.named.length < mostNamed) found.named.push({ path: [...at, key], known: there.known })
    }
  }
}

const mostNamed = 10
const longest = 100

/** The keys of a body that its schema does not know, however deep: the first of them, and how many there are. */
export const countedUnknownKeys = (schema: z.ZodType, body: unknown): Readonly<Found> => {
  const found: Found = { named: [], count: 0 }
  find(keysOfWhole(schema), body, [], found)
  return found
}

/** The first keys of a body that its schema does not know, however deep. */
export const unknownKeysOf = (schema: z.ZodType, body: unknown): readonly UnknownKey[] =>
  countedUnknownKeys(schema, body).named

export const nameOf = ({ path }: UnknownKey): string => inputPath(path).slice(0, longest).toWellFormed()

/** Proxies take some 4 KB of headers in all; a name can be nine times as long when it is encoded. */
const longestHeader = 1_000

/**
 * The names of keys as the value of a header: percent-encoded where a header cannot hold them, and how many more there are
 * where they are many or long.
 */
export const headerOf = ({ named, count }: Readonly<Found>): string => {
  const encoded = named.map((key) => encodeURIComponent(nameOf(key)).replaceAll('%5B', '[').replaceAll('%5D', ']'))
  let length = 0
  const fitting = encoded.filter((name) => (length += name.length + 2) <= longestHeader)
  const more = count - fitting.length
  return [...fitting, ...(more > 0 ? [`and ${more} more`] : [])].join(', ')
}
