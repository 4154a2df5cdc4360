import { readHead } from './checkpoint-text.ts'
import { generationOf, notesIn } from './kept-checkpoints.ts'
import { linesOf } from './lines.ts'
import { readNote } from './signed-note.ts'

/** A checkpoint of a log, as it is kept. */
export type KeptNote = { readonly origin: string; readonly size: number; readonly note: string }

/** The last note of a file may have been cut off by a crash: then the one before counts. */
const candidates = 2

/** The newest checkpoints of each log in a file, the newest last; none where there is no file yet. */
export const newestIn = async (file: string): Promise<ReadonlyMap<string, readonly KeptNote[]>> => {
  const newest = new Map<string, readonly KeptNote[]>()
  try {
    for await (const note of notesIn(linesOf(file))) {
      const head = readHead(readNote(note)?.text ?? '')
      if (!head) continue
      const { origin, size } = head
      const known = newest.get(origin) ?? []
      if ((known.at(-1)?.size ?? 0) <= size) newest.set(origin, [...known, { origin, size, note }].slice(-candidates))
    }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
  }
  return newest
}

/** The newest generation of logs that a file knows. */
export const generationIn = async (file: string): Promise<number> =>
  Math.max(0, ...[...(await newestIn(file)).keys()].map(generationOf))
