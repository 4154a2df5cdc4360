import { z } from 'zod'
import { cursorOf, readCursorAs, unknownCursor } from '#infra/http/cursor.ts'
import { pageSize } from '#infra/http/whole-number.ts'

/** The most records of a page. */
export const Limit = pageSize()

/** The place after a page's last item: a position of the log. A cursor of one list is none of another. */
export const cursorAt = (list: string, position: string): string => cursorOf([list, position])

/** Before the first item of any list. */
const start = ''

export const readCursor = (list: string, cursor: string | undefined): string => {
  if (cursor === undefined) return start
  const [of, position] = readCursorAs(cursor, CursorContent)
  if (of !== list || cursorAt(list, position) !== cursor) throw unknownCursor()
  return position
}

/** A position of any log: opaque, but printable. */
const CursorContent = z.tuple([z.string(), z.string().regex(/^[!-~]{1,200}$/)])

/** The cursor after a page; that of an empty page is the one that was sent. */
export const nextCursor = (
  list: string,
  rows: readonly { readonly position: string }[],
  cursor: string | undefined,
): string | null => {
  const last = rows.at(-1)
  return last ? cursorAt(list, last.position) : (cursor ?? null)
}

/** Several values in one parameter, separated by commas; each once. */
export const listOf = <Value extends z.ZodType<unknown, string>>(value: Value) =>
  z
    .string()
    .transform((text) => [...new Set(text.split(','))])
    .pipe(z.array(value).min(1).max(20))
