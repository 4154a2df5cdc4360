import { z } from 'zod'
import { Problem } from '#infra/http/problem.ts'
import { pageSize } from '#infra/http/whole-number.ts'

/** How many records a page may hold. */
export const Limit = pageSize()

/** The place after a page's last item: a position of the log. A cursor of one list is none of another. */
export const cursorAt = (list: string, position: string): string =>
  Buffer.from(JSON.stringify([list, position])).toString('base64url')

/** Before the first item of any list. */
const start = ''

export const placeOf = (list: string, cursor: string | undefined): string => {
  if (cursor === undefined) return start
  const place = Place.safeParse(parsed(Buffer.from(cursor, 'base64url').toString())).data
  if (place?.[0] === list && cursorAt(list, place[1]) === cursor) return place[1]
  const fields = { cursor: 'is not one that this list has given' }
  throw new Problem('invalid_parameter', 'Use the next_cursor of an earlier answer, or leave cursor out.', { fields })
}

/** A position of any log: opaque, but printable. */
const Place = z.tuple([z.string(), z.string().regex(/^[!-~]{1,100}$/)])

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

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
