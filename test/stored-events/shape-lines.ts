import { z } from 'zod'
import { isPersonal } from '#domain/event.ts'

/** What `z.toJSONSchema` makes of the data of an event, as far as it is looked at here. */
const Node = z.looseObject({
  type: z.union([z.string(), z.array(z.string()).transform((types) => types.join(' | '))]).optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  items: z.unknown().optional(),
  propertyNames: z.unknown().optional(),
  additionalProperties: z.unknown().optional(),
  anyOf: z.array(z.unknown()).optional(),
  oneOf: z.array(z.unknown()).optional(),
  format: z.string().optional(),
  enum: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  optional: z.array(z.string()).optional(),
  personal: z.literal(true).optional(),
})

/** What every schema says of a UUID, a date or a whole number is left out, as is that fields must be there. */
const brief: z.core.ToJSONSchemaParams['override'] = ({ zodSchema, jsonSchema }) => {
  const { format, minimum, maximum, properties, required } = jsonSchema
  delete jsonSchema.description
  if (format === 'uuid' || format === 'date' || format === 'date-time') delete jsonSchema.pattern
  if (minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  if (properties) {
    const optional = Object.keys(properties).filter((name) => !required?.includes(name))
    delete jsonSchema.required
    delete jsonSchema.additionalProperties
    if (optional.length > 0) Object.assign(jsonSchema, { optional })
  }
  if (isPersonal(zodSchema)) Object.assign(jsonSchema, { personal: true })
}

const plain = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
const quoted = (value: unknown): string => (typeof value === 'string' ? `'${value}'` : JSON.stringify(value))

type Line = readonly [path: string, holds: string]

/** What a schema says of a place itself: all but what is below it. */
const itself = (schema: z.infer<typeof Node>, options: readonly string[]): string => {
  const { type, format, enum: values, const: value, personal, ...more } = schema
  const { properties: _1, items: _2, propertyNames: _3, additionalProperties: _4, optional: _5, ...rest } = more
  const { anyOf: _anyOf, oneOf, ...bounds } = rest
  const literals = values ?? (value === undefined ? undefined : [value])
  const kind = literals?.map(quoted).join(' | ') ?? format ?? type ?? (options.length > 0 ? '' : 'anything')
  const limits = Object.entries(bounds).map(([name, limit]) => `${name}=${plain(limit)}`)
  return [personal ? 'personal' : '', kind, ...limits, options.join(oneOf ? ' or else ' : ' | ')]
    .filter((part) => part !== '')
    .join(' ')
}

/** A schema as lines, one for each place: that of a place first, then those of the places below it. */
const linesOf = (path: string, given: unknown): readonly [Line, ...Line[]] => {
  const schema = Node.parse(given)
  const { properties, items, propertyNames, additionalProperties, optional = [], anyOf, oneOf } = schema
  const options = (anyOf ?? oneOf ?? []).map((option) => linesOf('', option))
  const isOneObject = !properties && options.filter((lines) => lines.length > 1).length === 1
  const holds = itself(
    schema,
    options.map(([[, first]]) => first),
  )
  return [
    [path, holds],
    ...Object.entries(properties ?? {}).flatMap(([name, field]) =>
      linesOf(`${path}.${name}${optional.includes(name) ? '?' : ''}`, field),
    ),
    ...(items === undefined ? [] : linesOf(`${path}[]`, items)),
    ...(propertyNames === undefined ? [] : linesOf(`${path}{key}`, propertyNames)),
    ...(additionalProperties === undefined ? [] : linesOf(`${path}{}`, additionalProperties)),
    ...options.flatMap(([, ...below], index) =>
      below.map(([place, its]): Line => [`${path}${isOneObject ? '' : `|${index}`}${place}`, its]),
    ),
  ]
}

const isSaidBelow = (holds: string, lines: readonly Line[], index: number): boolean => {
  const [place = ''] = lines[index] ?? []
  const [next = ''] = lines[index + 1] ?? []
  const below = next.startsWith(place) ? next.slice(place.length) : ''
  return (holds === 'object' && /^[.{]/.test(below)) || (holds === 'array' && below.startsWith('[]'))
}

/** What the data of an event may hold, by its places. */
export const shapeLines = (schema: z.ZodType): Readonly<Record<string, string>> => {
  const { $schema: _, ...shape } = z.toJSONSchema(schema, { override: brief })
  return Object.fromEntries(
    linesOf('', JSON.parse(JSON.stringify(shape)))
      // That there is an object, or a list, is said by the places below it.
      .filter(([, holds], index, lines) => !isSaidBelow(holds, lines, index))
      .map(([path, holds]) => [path.replace(/^\./, ''), holds]),
  )
}
