import { z } from 'zod'
import type { EventShapes, Json } from '#domain/event.ts'
import { OwnError } from '#domain/own-error.ts'

/** The subject was erased: nothing more is stored of it. */
export class SubjectErased extends OwnError {
  override readonly name: string = 'SubjectErased'
}

/** The personal data of an event cannot be opened. */
export class UnreadableEvent extends OwnError {
  override readonly name: string = 'UnreadableEvent'
}

/** An event of an earlier version that cannot be lifted without the data of its subject, who was erased. */
export class ErasedEvent extends UnreadableEvent {
  override readonly name = 'ErasedEvent'
}

/** The reason why such an event cannot be read. */
export const subjectErased = 'its subject was erased, and its version cannot be lifted without the data'

/** True where something failed because its person was erased. */
export const isAboutErased = (error: unknown): boolean => error instanceof SubjectErased || error instanceof ErasedEvent

const strings = [
  '',
  '-',
  '1900-01-01',
  '1900-01-01T00:00:00Z',
  '00000000-0000-0000-0000-000000000000',
  '0',
  'erased@example.invalid',
]
const numbers = [0, 1]

/** A value that fits a schema and says nothing: null or left out where that is allowed, otherwise as empty as can be. */
const emptyOf = (schema: z.core.$ZodType): unknown => {
  if (schema instanceof z.ZodNullable) return null
  if (schema instanceof z.ZodOptional) return undefined
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodReadonly) return emptyOf(schema.unwrap())
  if (schema instanceof z.ZodObject) return emptyObject(schema.shape)
  if (schema instanceof z.ZodArray) return firstThatFits(schema, [[], [emptyOf(schema.element)]])
  if (schema instanceof z.ZodRecord) return {}
  if (schema instanceof z.ZodUnion) return firstThatFits(schema, schema.options.map(emptyOf))
  if (schema instanceof z.ZodEnum) return schema.options[0]
  if (schema instanceof z.ZodLiteral) return [...schema.values][0]
  return firstThatFits(schema, [...strings, ...numbers, false])
}

const emptyObject = (shape: Readonly<Record<string, z.core.$ZodType>>): Json =>
  Object.fromEntries(
    Object.entries(shape)
      .map(([name, schema]) => [name, emptyOf(schema)] as const)
      .filter(([, value]) => value !== undefined),
  )

const firstThatFits = (schema: z.core.$ZodType, candidates: readonly unknown[]): unknown => {
  const found = candidates.find((candidate) => z.safeParse(schema, candidate).success)
  if (found === undefined) throw new Error(`No empty value is known for ${schema._zod.def.type}.`)
  return found
}

/** The stand-in for the personal data of an event whose subject was erased. */
export const erasedData = ({ schema, personal }: EventShapes[string]): Json => {
  const fields: Readonly<Record<string, z.core.$ZodType>> = schema.shape
  return emptyObject(Object.fromEntries(Object.entries(fields).filter(([name]) => personal.includes(name))))
}
