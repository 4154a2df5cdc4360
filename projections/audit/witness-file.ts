import { open } from 'node:fs/promises'
import type { Pool } from 'pg'
import { compareKept, generationOf, readKept, type Finding } from '#infra/audit-tree/kept-checkpoints.ts'
import { newestIn, type KeptNote } from '#infra/audit-tree/witness-notes.ts'
import type { Log } from '#infra/log.ts'
import { bigints, texts } from '#infra/postgres/arrays.ts'
import { reasonOf } from '#infra/reason.ts'
import { withTimeout } from '#infra/timeout.ts'

const writeMs = 10_000
/** The newest checkpoint of each log that is signed with a known key, and the logs of which there is none. */
const readFile = async (file: string, publicKeys: readonly Buffer[]) => {
  const kept = new Map<string, KeptNote>()
  const findings: Finding[] = []
  for (const [origin, notes] of await newestIn(file)) {
    const signed = notes.findLast(({ note }) => typeof readKept(note, publicKeys) !== 'string')
    if (signed) kept.set(origin, signed)
    else findings.push({ origin, reason: 'what AUDIT_WITNESS_FILE holds of it is not signed with a known key' })
  }
  return { kept, findings }
}

/** The newest checkpoints of the database that a file does not hold yet. */
const missingIn = async (
  pool: Pool,
  generation: number,
  kept: ReadonlyMap<string, KeptNote>,
): Promise<readonly KeptNote[]> => {
  const { rows } = await pool.query<{ origin: string; size: string; note: string }>({
    text: `
      select tree.origin, last.size, last.note from audit_tree as tree
      cross join lateral (
        select size, note from audit_checkpoint where tree_id = tree.id order by size desc limit 1) as last
      left join unnest($2::text[], $3::bigint[]) as kept (origin, size) on kept.origin = tree.origin
      where tree.generation = $1 and last.size > coalesce(kept.size, 0)`,
    values: [generation, texts([...kept.keys()]), bigints([...kept.values()].map(({ size }) => size))],
  })
  return rows.map((row) => ({ ...row, size: Number(row.size) }))
}

const append = async (file: string, notes: readonly KeptNote[]): Promise<void> => {
  const opened = await open(file, 'a', 0o600)
  try {
    // What a crash has cut off stays apart from what follows.
    await opened.appendFile(notes.map(({ note }) => `\n${note}`).join(''))
    await opened.sync()
  } finally {
    await opened.close()
  }
}

type Parts = {
  readonly pool: Pool
  readonly file: string
  readonly publicKeys: readonly Buffer[]
  readonly generation: number
  readonly log: Log
}

/**
 * The checkpoints in a file outside the database, which knows what the database must not have forgotten. A log that has fewer
 * entries than the file says, or others, is not signed. Only the process that signs writes to the file; one that takes over
 * reads it first.
 */
export const openWitnessFile = async ({ pool, file, publicKeys, generation, log }: Parts) => {
  const { kept, findings } = await readFile(file, publicKeys)
  const compared = await compareKept(pool, notesOf(kept), publicKeys)
  const ofNow = ({ origin }: Finding): boolean => generationOf(origin) >= generation
  const refused = new Map(
    [...findings, ...compared.findings].filter(ofNow).map(({ origin, reason }) => [origin, reason]),
  )
  const waiting = new Map<string, KeptNote>()
  let writing: Promise<void> | undefined
  let trouble: string | undefined

  const write = async (): Promise<void> => {
    const notes = [...waiting.values()]
    if (notes.length === 0 || writing) return
    writing = append(file, notes).finally(() => (writing = undefined))
    try {
      await withTimeout(writing, writeMs)
      trouble = undefined
      for (const each of notes) {
        kept.set(each.origin, each)
        if (waiting.get(each.origin) === each) waiting.delete(each.origin)
      }
    } catch (error) {
      trouble ??= reasonOf(error)
      log.error({ error, file }, 'checkpoints could not be written to AUDIT_WITNESS_FILE, trying again')
    }
  }
  /** Writes the newest checkpoint of each log, and what could not be written before. */
  const keep = async (signed: readonly KeptNote[]): Promise<void> => {
    for (const each of signed) waiting.set(each.origin, each)
    await write()
  }
  await keep((await missingIn(pool, generation, kept)).filter(({ origin }) => !refused.has(origin)))

  return {
    keep,
    /** Logs that are not signed by what the file holds of them. */
    refusals: (): readonly Finding[] => [...refused].map(([origin, reason]) => ({ origin, reason })),
    /** Why a log is not signed, whose newest checkpoint in the database has so many entries. */
    refusalOf: (origin: string, signedSize: number): string | undefined => {
      const known = kept.get(origin)?.size ?? 0
      return (
        refused.get(origin) ??
        (known > signedSize
          ? `AUDIT_WITNESS_FILE has a checkpoint of ${known} leaves, the database of ${signedSize}`
          : undefined)
      )
    },
    trouble: (): string | undefined => trouble,
  }
}
export type WitnessFile = Awaited<ReturnType<typeof openWitnessFile>>

async function* notesOf(kept: ReadonlyMap<string, KeptNote>): AsyncGenerator<string> {
  for (const { note } of kept.values()) yield note
}
