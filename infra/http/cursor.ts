import { z } from 'zod'
import { Problem } from './problem.ts'

/** The parameter of a list that says where its page begins. */
export const Cursor = z.string().min(1).optional()

/** The time of a place. PostgreSQL has no year 0. */
export const CursorTime = z.iso.datetime().refine((at) => !at.startsWith('0000'))

/** A place in a list as callers are given it: they send it back, and need not know what it says. */
export const cursorOf = (place: readonly string[]): string => Buffer.from(JSON.stringify(place)).toString('base64url')

/** The place that a cursor stands for. Throws `invalid_parameter` for what no list of this kind has given. */
export const readCursorAs = <Place>(cursor: string, schema: z.ZodType<Place>): Place => {
  const { data } = schema.safeParse(parsed(Buffer.from(cursor, 'base64url').toString()))
  if (data === undefined) throw unknownCursor()
  return data
}

export const unknownCursor = (): Problem =>
  new Problem('invalid_parameter', 'Use the next_cursor of an earlier answer, or leave cursor out.', {
    fields: { cursor: 'is not one that this list has given' },
  })

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
