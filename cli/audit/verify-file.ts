import { createHash, hash } from 'node:crypto'
import type { z } from 'zod'
import { canonicalJson } from '#domain/canonical-json.ts'
import { readHead, type LogHead } from '#infra/audit-tree/checkpoint-text.ts'
import { leafHash, rootFromLeaf } from '#infra/audit-tree/merkle.ts'
import { readVerifier, verifierText, type Verifier } from '#infra/audit-tree/signed-note.ts'
import { End, endText, Entry, Manifest, openWhole, waysToSign } from './export-format.ts'

export type VerifiedFile = {
  readonly origin: string
  readonly entries: number
  readonly size: number
  /** The key that has signed the export. */
  readonly key: string
}

/** The first line that is not as it was exported. */
export type FaultInFile = { readonly line: number; readonly reason: string }

type Opened = { readonly head: LogHead; readonly verifiers: readonly Verifier[]; readonly bytes: Buffer }

/**
 * Verifies an export by itself, with nothing but its keys: each entry leads to the checkpoint, and the end signs all of it. With a
 * key that the reader has from elsewhere, only that one counts. Memory holds a line.
 */
export const verifyFile = async (
  lines: AsyncIterable<Buffer>,
  known: Verifier | undefined,
): Promise<VerifiedFile | FaultInFile> => {
  const digest = createHash('sha256')
  let opened: Opened | undefined
  let ended: VerifiedFile | undefined
  let line = 0
  for await (const bytes of lines) {
    line++
    const faulty = (reason: string): FaultInFile => ({ line, reason })
    if (ended) return faulty('the export has ended before it')
    const value = canonicalLine(bytes)
    if (value === undefined) return faulty('it is not written as an export writes it')
    if (!opened) {
      const found = openManifest(value, bytes, known)
      if (typeof found === 'string') return faulty(found)
      opened = found
      continue
    }
    if (isEnd(value)) {
      const { origin, size } = opened.head
      const entries = line - 2
      const text = endText({ origin, entries, manifest: opened.bytes, digest: digest.digest() })
      const key = signerOfEnd(line, value, opened, text)
      if ('reason' in key) return key
      ended = { origin, entries, size, key: verifierText(key) }
      continue
    }
    const reason = faultOfEntry(value, opened.head)
    if (reason !== undefined) return faulty(reason)
    digest.update(bytes)
  }
  return ended ?? { line: line + 1, reason: 'the end of the export is missing' }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Undefined for a line that says the same in other bytes, too. */
const canonicalLine = (bytes: Buffer): unknown => {
  try {
    const text = decoder.decode(bytes)
    const value: unknown = JSON.parse(text)
    return `${canonicalJson(value)}\n` === text ? value : undefined
  } catch {
    return undefined
  }
}

const openManifest = (value: unknown, bytes: Buffer, known: Verifier | undefined): Opened | string => {
  const { data: manifest } = Manifest.safeParse(value)
  if (!manifest) return 'it is no manifest of an export'
  const given = manifest.keys.map(readVerifier)
  const keys = given.filter((key) => key !== undefined)
  if (keys.length < given.length || keys.some(({ name }) => name !== manifest.origin))
    return 'its keys are not those of its log'
  const trusted = known ? keys.filter(({ publicKey }) => publicKey.equals(known.publicKey)) : keys
  const verifiers = trusted.flatMap(waysToSign)
  const head = readHead(openWhole(manifest.checkpoint, verifiers)?.text ?? '')
  if (head?.origin !== manifest.origin) return `its checkpoint is not signed with ${known ? 'that key' : 'its keys'}`
  return { head, verifiers, bytes }
}

const isEnd = (value: unknown): value is z.infer<typeof End> => End.safeParse(value).success

/** The key that has signed the lines before the end, or which line it has not signed. */
const signerOfEnd = (line: number, { end }: z.infer<typeof End>, { verifiers }: Opened, text: string) => {
  const found = openWhole(end, verifiers)
  const [signer] = found?.signedBy ?? []
  if (!found || !signer) return { line, reason: 'it is not signed with the key of the checkpoint' }
  if (found.text === text) return signer
  const manifestOf = (each: string) => each.split('\n')[3]
  return manifestOf(found.text) === manifestOf(text)
    ? { line, reason: 'it has not signed these entries: some were taken out, put in or put in another order' }
    : { line: 1, reason: 'it is not the manifest that the end of the export has signed' }
}

const faultOfEntry = (value: unknown, { size, root }: LogHead): string | undefined => {
  const { data: entry } = Entry.safeParse(value)
  if (!entry) return 'it is no entry of an export'
  const { index, record, data, metadata } = entry
  const isOf = (digest: string, part: unknown) => hash('sha256', canonicalJson(part)) === digest
  if (!isOf(record.data_sha256, data) || !isOf(record.metadata_sha256, metadata))
    return 'its event is not what was recorded'
  const proof = entry.proof.map((each) => Buffer.from(each, 'base64'))
  const isWritten = proof.every((each, place) => each.length === 32 && each.toString('base64') === entry.proof[place])
  const found = isWritten ? rootFromLeaf(leafHash(Buffer.from(canonicalJson(record))), index, size, proof) : undefined
  return found?.equals(root) ? undefined : `it is not entry ${index} of the log that the checkpoint has signed`
}
