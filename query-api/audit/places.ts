import { z } from 'zod'
import { cursorOf, CursorTime, readCursorAs, unknownCursor } from '#infra/http/cursor.ts'
import { Revision } from '../page.ts'
import type { Asked, EventRow } from './asked.ts'

/** A list of one record is in the order of its events, any other in that of a time. */
export type Order = 'revision' | 'recorded_at' | 'occurred_at'
export type Direction = 'older' | 'newer'
export type Place = { readonly revision: number } | { readonly at: string; readonly position: string }

const Way = z.enum(['older', 'newer'])
const Written = z.union([
  z.tuple([z.literal('revision'), Way, Revision]),
  z.tuple([z.enum(['recorded_at', 'occurred_at']), Way, CursorTime, z.string().regex(/^[!-~]{1,200}$/)]),
])

/** Few events have the same request or person, and need no index in the order of when they happened. */
export const orderOf = (asked: Asked): Order => {
  const { stream, correlation_id, person_id, actor_id, kinds } = asked
  if (stream !== undefined) return 'revision'
  const isByOccurred = asked.occurred_since !== undefined || asked.occurred_until !== undefined
  const isByRecorded = asked.recorded_since !== undefined || asked.recorded_until !== undefined
  const isFound = correlation_id !== undefined || person_id !== undefined
  const isOfKind = kinds !== undefined && actor_id === undefined
  return isByOccurred && !isByRecorded && !isFound && !isOfKind ? 'occurred_at' : 'recorded_at'
}

export const readPlace = (
  cursor: string | undefined,
  order: Order,
): { readonly direction: Direction; readonly place: Place | undefined } => {
  if (cursor === undefined) return { direction: 'older', place: undefined }
  const [of, direction, ...place] = readCursorAs(cursor, Written)
  if (of !== order) throw unknownCursor()
  const [at, position = ''] = place
  return { direction, place: typeof at === 'number' ? { revision: at } : { at, position } }
}

export const cursorAt = (order: Order, direction: Direction, row: EventRow): string =>
  cursorOf([
    order,
    direction,
    ...(order === 'revision' ? [String(row.revision)] : [row[order].toISOString(), row.position]),
  ])
