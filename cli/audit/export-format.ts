import { z } from 'zod'
import { canonicalJson } from '#domain/canonical-json.ts'
import { sha256 } from '#infra/audit-tree/merkle.ts'
import { cosignature, openNote, readNote, verifierOf, type Verifier } from '#infra/audit-tree/signed-note.ts'

/**
 * An export is JSON in lines, each canonical: a manifest, then the entries, each with the event as it is stored and its path to the
 * checkpoint, and at the end a note that signs all of them.
 */

export const exportFormat = 'coverstream-audit-export/1'

export const Manifest = z.strictObject({
  format: z.literal(exportFormat),
  origin: z.string().min(1),
  /** The keys with which the checkpoint and the end may be signed, as C2SP signed-note writes them. */
  keys: z.array(z.string()),
  checkpoint: z.string(),
  /** Which events were asked for. */
  selection: z.strictObject({
    record: z.string().optional(),
    person: z.string().optional(),
    from: z.string().optional(),
    until: z.string().optional(),
  }),
  exported_at: z.string(),
})
export type Manifest = z.infer<typeof Manifest>

export const Entry = z.strictObject({
  index: z.int().nonnegative(),
  /** The leaf: its text is the canonical JSON of this. */
  record: z.looseObject({ data_sha256: z.string(), metadata_sha256: z.string() }),
  data: z.json(),
  metadata: z.json(),
  /** The path to the root, the lowest hash first. */
  proof: z.array(z.string()),
})
export type Entry = z.infer<typeof Entry>

export const End = z.strictObject({ end: z.string() })

export const lineOf = (value: Manifest | Entry | z.infer<typeof End>): string => `${canonicalJson(value)}\n`

type Whole = {
  readonly origin: string
  readonly entries: number
  readonly manifest: Buffer
  /** The digest of all lines of entries. */
  readonly digest: Buffer
}

/** The text that the end of an export signs. */
export const endText = ({ origin, entries, manifest, digest }: Whole): string =>
  `${[exportFormat, origin, entries, sha256(manifest).toString('base64'), digest.toString('base64')].join('\n')}\n`

/** Both ways in which a key of a log signs. */
export const waysToSign = ({ name, publicKey }: Verifier): readonly Verifier[] => [
  verifierOf(name, publicKey),
  verifierOf(name, publicKey, cosignature),
]

/** The text of a note that was signed by these alone, and by which of them. */
export const openWhole = (note: string, verifiers: readonly Verifier[]) => {
  const opened = openNote(note, verifiers)
  return opened && opened.signedBy.length === readNote(note)?.signatures.length ? opened : undefined
}
