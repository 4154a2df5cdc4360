import { z } from 'zod'
import { Cursor, cursorOf, readCursorAs, CursorTime } from '#infra/http/cursor.ts'
import { inDigits, pageSize } from '#infra/http/whole-number.ts'

/** A place in a list that is in the order of a time, and of ids where times are equal. */
export type CursorPosition = { readonly at: string; readonly id: string }

/** A cursor of a list that is in the order of a stream: the revision of its last event, as the column can hold it. */
export const Revision = inDigits(
  z
    .int()
    .min(0)
    .max(2 ** 31 - 1),
)

const Written = z.tuple([CursorTime, z.uuid()])

/** The cursor of what comes after a row: opaque to callers. */
export const cursorAfter = (at: Date, id: string): string => cursorOf([at.toISOString(), id])

/** Throws `invalid_parameter` for what is no cursor of ours. */
export const readCursor = (cursor: string): CursorPosition => {
  const [at, id] = readCursorAs(cursor, Written)
  return { at, id }
}

/** A page of rows of which one more was read than are shown, and the cursor of the next one. */
export const pageOf = <Row>(
  rows: readonly Row[],
  limit: number,
  positionOfRow: (row: Row) => { readonly at: Date; readonly id: string },
): { readonly page: readonly Row[]; readonly next_cursor: string | null } => {
  const page = rows.slice(0, limit)
  const last = rows.length > limit ? page.at(-1) : undefined
  if (!last) return { page, next_cursor: null }
  const { at, id } = positionOfRow(last)
  return { page, next_cursor: cursorAfter(at, id) }
}

/** After every other. */
export const highestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** Before every other. */
export const lowestId = '00000000-0000-0000-0000-000000000000'

/** The parameters of every list with cursors. */
export const pageParameters = {
  limit: pageSize(),
  cursor: Cursor,
}

/**
 * The place before which a page begins. Only one condition may say so: of two, PostgreSQL begins at the first and passes over
 * all that is newer than the other.
 */
export const beginning = (cursor: string | undefined, until: string | undefined): CursorPosition => {
  const place = cursor === undefined ? { at: 'infinity', id: highestId } : readCursor(cursor)
  const isNarrower = until !== undefined && (cursor === undefined || until <= place.at)
  return isNarrower ? { at: until, id: lowestId } : place
}
