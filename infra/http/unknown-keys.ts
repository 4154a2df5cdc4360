import { z } from 'zod'

/** The top-level keys that a schema knows; undefined where it takes any. */
const knownKeys = (schema: z.core.$ZodType): readonly string[] | undefined => {
  if (schema instanceof z.ZodObject) return schema.def.catchall === undefined ? Object.keys(schema.shape) : undefined
  if (schema instanceof z.ZodPipe) return knownKeys(schema.in)
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable)
    return knownKeys(schema.unwrap())
  if (!(schema instanceof z.ZodUnion)) return undefined
  const keys = schema.options.map(knownKeys)
  return keys.every((each) => each !== undefined) ? keys.flat() : undefined
}

const mostNamed = 10
const longest = 100

/** The top-level keys of a body that its schema does not know, the first of them; and those that it knows. */
export const unknownKeysOf = (schema: z.ZodType) => {
  const keys = knownKeys(schema)
  const known = new Set(keys)
  return {
    known: [...known],
    of: (body: unknown): readonly string[] =>
      !keys || typeof body !== 'object' || body === null || Array.isArray(body)
        ? []
        : Object.keys(body)
            .filter((key) => !known.has(key))
            .slice(0, mostNamed)
            .map((key) => key.slice(0, longest).toWellFormed()),
  }
}

/** Names as the value of a header: percent-encoded where a header cannot hold them. */
export const headerOf = (keys: readonly string[]): string => keys.map(encodeURIComponent).join(', ')
