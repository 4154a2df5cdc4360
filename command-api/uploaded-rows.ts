import { z } from 'zod'

/** Names a file. What is recorded of a row follows from this and its line, so that it is recorded once. */
export const UploadName = z.string().min(1).max(150)

/** Rows of a file, by its lines, with their values by the names of the columns. */
export const UploadedRows = z
  .array(z.object({ line: z.int().min(1), fields: z.record(z.string().max(200), z.string().max(10_000)) }))
  .min(1)
  .max(200)
export type UploadedRow = z.output<typeof UploadedRows>[number]

/** The reason why a row could not be recorded; `field` is null where it is the row as a whole. */
export const RowFault = z.object({ line: z.int(), field: z.string().nullable(), reason: z.string() })
export type RowFault = z.output<typeof RowFault>
