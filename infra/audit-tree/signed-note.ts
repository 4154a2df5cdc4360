import { createPublicKey, sign, verify, type KeyObject } from 'node:crypto'
import { sha256 } from './merkle.ts'

/** Text that is signed (C2SP signed-note), with Ed25519. */

/** Ed25519 as the log signs, and with a time as a witness does (C2SP tlog-cosignature). */
export type SignatureType = 1 | 4

export const noteSignature: SignatureType = 1
export const cosignature: SignatureType = 4

export type Verifier = {
  readonly name: string
  readonly id: string
  readonly type: SignatureType
  readonly publicKey: Buffer
}

export const bytesOfPublicKey = (key: KeyObject): Buffer => {
  const { x } = key.export({ format: 'jwk' })
  if (x === undefined) throw new TypeError('This is no Ed25519 key.')
  return Buffer.from(x, 'base64url')
}

const publicKeyOf = (bytes: Buffer): KeyObject =>
  createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: bytes.toString('base64url') }, format: 'jwk' })

export const verifierOf = (name: string, publicKey: Buffer, type: SignatureType = noteSignature): Verifier => ({
  name,
  id: sha256(Buffer.concat([Buffer.from(`${name}\n`), Buffer.from([type]), publicKey])).toString('hex', 0, 4),
  type,
  publicKey,
})

/** The text by which a verifier is handed on: `<name>+<id>+<key>`. */
export const verifierText = ({ name, id, type, publicKey }: Verifier): string =>
  `${name}+${id}+${Buffer.concat([Buffer.from([type]), publicKey]).toString('base64')}`

/** Undefined for what is no such text of an Ed25519 key. */
export const readVerifier = (text: string): Verifier | undefined => {
  const [, name = '', id, encoded = ''] = /^([^+\s]+)\+([\da-f]{8})\+([A-Za-z0-9+/]+=*)$/.exec(text.trim()) ?? []
  const key = Buffer.from(encoded, 'base64')
  const type = key[0]
  if (key.length !== 33 || (type !== noteSignature && type !== cosignature)) return undefined
  const verifier = verifierOf(name, key.subarray(1), type)
  return verifier.id === id ? verifier : undefined
}

const line = ({ name, id }: Pick<Verifier, 'name' | 'id'>, signature: Buffer): string =>
  `— ${name} ${Buffer.concat([Buffer.from(id, 'hex'), signature]).toString('base64')}\n`

/** The time that a cosignature names, in whole seconds, and what it signs. */
const cosigned = (text: string, seconds: bigint): Buffer => Buffer.from(`cosignature/v1\ntime ${seconds}\n${text}`)

const timestamp = (seconds: bigint): Buffer => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(seconds)
  return bytes
}

/** The note of a text that ends with a newline: signed, and cosigned with the time by the same key. */
export const signNote = (text: string, name: string, key: KeyObject, at: Date): string => {
  const publicKey = bytesOfPublicKey(key)
  const seconds = BigInt(Math.floor(at.getTime() / 1_000))
  const timed = Buffer.concat([timestamp(seconds), sign(null, cosigned(text, seconds), key)])
  return [
    `${text}\n`,
    line(verifierOf(name, publicKey), sign(null, Buffer.from(text), key)),
    line(verifierOf(name, publicKey, cosignature), timed),
  ].join('')
}

type SignatureLine = { readonly name: string; readonly id: string; readonly signature: Buffer; readonly line: string }

/** The lines of signatures; undefined where one is none. */
export const signatureLines = (text: string): readonly SignatureLine[] | undefined => {
  const lines = text.split(/(?<=\n)/)
  const found = lines.map((each): SignatureLine | undefined => {
    const [, name, encoded = ''] = /^— ([^+\s]+) ([A-Za-z0-9+/]+=*)\n$/.exec(each) ?? []
    const bytes = Buffer.from(encoded, 'base64')
    if (name === undefined || bytes.length < 5 || bytes.toString('base64') !== encoded) return undefined
    return { name, id: bytes.toString('hex', 0, 4), signature: bytes.subarray(4), line: each }
  })
  return found.every((each) => each !== undefined) ? found : undefined
}

const mostSignatures = 100

/** The text of a note and its signatures, not verified; undefined for what is no note. */
export const readNote = (
  note: string,
): { readonly text: string; readonly signatures: readonly SignatureLine[] } | undefined => {
  // eslint-disable-next-line no-control-regex
  if (/[\u0000-\u0009\u000b-\u001f]/.test(note) || !note.isWellFormed()) return undefined
  const end = note.lastIndexOf('\n\n')
  if (end < 0) return undefined
  const signatures = signatureLines(note.slice(end + 2))
  if (!signatures || signatures.length > mostSignatures) return undefined
  return { text: note.slice(0, end + 1), signatures }
}

const isSignedBy = (text: string, { signature }: SignatureLine, { type, publicKey }: Verifier): boolean => {
  const key = publicKeyOf(publicKey)
  if (type === noteSignature) return verify(null, Buffer.from(text), key, signature)
  if (signature.length !== 72) return false
  return verify(null, cosigned(text, signature.readBigUInt64BE(0)), key, signature.subarray(8))
}

/** The time that a key has signed in a note. */
export const timeOfNote = (note: string, { name, id }: Verifier): Date | undefined => {
  const found = readNote(note)?.signatures.find((each) => each.name === name && each.id === id)
  return found && new Date(Number(found.signature.readBigUInt64BE(0)) * 1_000)
}

/**
 * The text of a note, and whose signatures were found right. Undefined where it is no note, where nobody known has signed it, or
 * where a signature of somebody known is wrong.
 */
export const openNote = (
  note: string,
  verifiers: readonly Verifier[],
): { readonly text: string; readonly signedBy: readonly Verifier[] } | undefined => {
  const read = readNote(note)
  if (!read) return undefined
  const signedBy: Verifier[] = []
  for (const each of read.signatures) {
    const verifier = verifiers.find(({ name, id }) => name === each.name && id === each.id)
    if (!verifier) continue
    if (!isSignedBy(read.text, each, verifier)) return undefined
    signedBy.push(verifier)
  }
  return signedBy.length > 0 ? { text: read.text, signedBy } : undefined
}
