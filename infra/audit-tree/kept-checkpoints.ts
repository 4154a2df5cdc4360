import { bigints, texts } from '../postgres/arrays.ts'
import type { Database } from '../postgres/lookups.ts'
import { readHead, type LogHead } from './checkpoint-text.ts'
import { openNote, readNote, verifierOf } from './signed-note.ts'
import { newestGeneration } from './tree-rows.ts'

/** A log that is not what was signed, and why. */
export type Finding = { readonly origin: string; readonly reason: string }

const isSignature = (line: string): boolean => line.startsWith('— ')

/** The notes of a file that holds one after the other, with empty lines between them or none. */
export async function* notesIn(lines: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let text: string[] = []
  let signatures: string[] | undefined
  const note = () => [...text, '', ...(signatures ?? []), ''].join('\n')
  for await (const bytes of lines) {
    const line = bytes.toString().replace(/\r?\n$/, '')
    if (signatures && isSignature(line)) signatures.push(line)
    else if (line === '' && !signatures) signatures = text.length > 0 ? [] : undefined
    else if (line !== '' || (signatures?.length ?? 0) > 0) {
      if (signatures) {
        yield note()
        text = []
        signatures = undefined
      }
      if (line !== '') text.push(line)
    }
  }
  if (text.length > 0) yield note()
}

export type KeptCompared = {
  /** Kept checkpoints that the database holds, too. */
  readonly compared: number
  /** Those that are not there any more, of logs that have begun again since. */
  readonly former: number
  readonly findings: readonly Finding[]
}

const notesAtOnce = 500

/**
 * Compares checkpoints that were kept elsewhere with those that are stored, each of which must be there. What is stored is
 * compared with the events apart from this. Memory holds some notes, and the first finding of each log.
 */
export const compareKept = async (
  db: Database,
  notes: AsyncIterable<string>,
  publicKeys: readonly Buffer[],
): Promise<KeptCompared> => {
  const { generation } = await newestGeneration(db)
  const found = new Map<string, string>()
  let compared = 0
  let former = 0
  let heads: LogHead[] = []
  const compareSome = async () => {
    for (const { head, tree } of await storedOf(db, heads)) {
      const { origin } = head
      const reason = differenceOf(head, tree)
      const isFormer = (tree?.generation ?? generationOf(origin)) < generation
      if (reason === undefined) compared++
      else if (isFormer && !tree?.root) former++
      else if (!found.has(origin)) found.set(origin, reason)
    }
    heads = []
  }
  for await (const note of notes) {
    const head = readKept(note, publicKeys)
    if (typeof head === 'string') found.set('kept checkpoints', head)
    else heads.push(head)
    if (heads.length === notesAtOnce) await compareSome()
  }
  await compareSome()
  return { compared, former, findings: [...found].map(([origin, reason]) => ({ origin, reason })) }
}

/** The head that a note has signed, or why it is not compared. */
export const readKept = (note: string, publicKeys: readonly Buffer[]): LogHead | string => {
  const [firstLine = '', size = ''] = note.split('\n')
  const head = readHead(readNote(note)?.text ?? '')
  const isSigned =
    head &&
    openNote(
      note,
      publicKeys.map((key) => verifierOf(head.origin, key)),
    )
  return isSigned ? head : `checkpoint ${size} of ${firstLine}: it is not signed with a known key`
}

/** A log that began again has a number at the end of its name. */
export const generationOf = (origin: string): number => Number(/\/audit\/[^/]+\/(\d+)$/.exec(origin)?.[1] ?? 1)

type Stored = { readonly generation: number; readonly size: number; readonly root: Buffer | null }

const storedOf = async (
  db: Database,
  heads: readonly LogHead[],
): Promise<readonly { readonly head: LogHead; readonly tree: Stored | undefined }[]> => {
  const { rows } = await db.query<{ generation: number | null; size: string; root: Buffer | null }>({
    name: 'audit-kept-checkpoints',
    text: `
      select tree.generation, tree.size, stored.root
      from unnest($1::text[], $2::bigint[]) with ordinality as kept (origin, size, place)
      left join audit_tree as tree on tree.origin = kept.origin
      left join audit_checkpoint as stored on stored.tree_id = tree.id and stored.size = kept.size
      order by kept.place`,
    values: [texts(heads.map(({ origin }) => origin)), bigints(heads.map(({ size }) => size))],
  })
  return heads.map((head, place) => {
    const row = rows[place]
    const tree =
      row && row.generation !== null
        ? { generation: row.generation, size: Number(row.size), root: row.root }
        : undefined
    return { head, tree }
  })
}

const differenceOf = ({ size, root }: LogHead, tree: Stored | undefined): string | undefined => {
  if (!tree) return `checkpoint ${size}: it was kept elsewhere, and there is no log of that name`
  if (tree.root)
    return tree.root.equals(root) ? undefined : `checkpoint ${size}: the one that was kept elsewhere differs`
  return tree.size < size
    ? `leaf ${tree.size}: it is not there, and a checkpoint of ${size} leaves was kept elsewhere`
    : `checkpoint ${size}: it was kept elsewhere, and is not there`
}
