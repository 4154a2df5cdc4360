import { z } from 'zod'
import { Cursor, cursorOf, readCursorAs, unknownCursor } from '#infra/http/cursor.ts'
import { pageSize } from '#infra/http/whole-number.ts'

/** The parameters of a list with cursors. */
export const pageParameters = {
  limit: pageSize(),
  cursor: Cursor,
}

const CursorContent = z.tuple([z.string(), z.string()])

/** A page of what an organisation has set up, in the order of names. A cursor of one list is none of another. */
export const pageByName = <Item extends { readonly name: string }>(
  list: string,
  items: readonly Item[],
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
): { readonly data: readonly Item[]; readonly next_cursor: string | null } => {
  const after = cursor === undefined ? undefined : readCursor(list, cursor)
  const left = items
    .filter(({ name }) => after === undefined || name > after)
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
  const data = left.slice(0, limit)
  const last = left.length > limit ? data.at(-1) : undefined
  return { data, next_cursor: last ? cursorOf([list, last.name]) : null }
}

const readCursor = (list: string, cursor: string): string => {
  const [of, name] = readCursorAs(cursor, CursorContent)
  if (of !== list) throw unknownCursor()
  return name
}
