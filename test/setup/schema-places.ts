import { z } from 'zod'

/** Every place of a value that a schema knows by name: `covers.tiers.monthly_premium_pence`. Lists are stepped over. */
export const placesOf = (schema: z.core.$ZodType, at = ''): readonly string[] => {
  if (schema instanceof z.ZodPipe) return [...placesOf(schema.in, at), ...placesOf(schema.out, at)]
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault)
    return placesOf(schema.unwrap(), at)
  if (schema instanceof z.ZodNullable) return placesOf(schema.unwrap(), at)
  if (schema instanceof z.ZodArray) return placesOf(schema.element, at)
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => placesOf(option, at))
  if (!(schema instanceof z.ZodObject)) return []
  const shape: Readonly<Record<string, z.core.$ZodType>> = schema.shape
  return Object.entries(shape).flatMap(([name, part]) => {
    const place = at === '' ? name : `${at}.${name}`
    return [place, ...placesOf(part, place)]
  })
}

/** The places at which a value says something. */
export const placesIn = (value: unknown, at = ''): readonly string[] => {
  if (Array.isArray(value)) return value.flatMap((each) => placesIn(each, at))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, part]) => {
    const place = at === '' ? name : `${at}.${name}`
    return part === undefined || part === null ? [] : [place, ...placesIn(part, place)]
  })
}
