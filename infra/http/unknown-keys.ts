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

/**
 * The top-level keys of a body that its schema does not know and that are therefore ignored, as the value of a header:
 * percent-encoded where a header cannot hold them. Undefined when there are none.
 */
export const unknownKeysOf = (schema: z.ZodType): ((body: unknown) => string | undefined) => {
  const keys = knownKeys(schema)
  if (!keys) return () => undefined
  const known = new Set(keys)
  return (body) => {
    if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined
    const unknown = Object.keys(body).filter((key) => !known.has(key))
    if (unknown.length === 0) return undefined
    return unknown
      .slice(0, mostNamed)
      .map((key) => encodeURIComponent(key.slice(0, longest).toWellFormed()))
      .join(', ')
  }
}
