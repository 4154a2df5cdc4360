import { createCipheriv, createDecipheriv, createSecretKey, randomFillSync, type KeyObject } from 'node:crypto'
import { OwnError } from '#domain/own-error.ts'

const algorithm = 'aes-256-gcm'
const keyBytes = 32
const ivBytes = 12
const tagBytes = 16

/** Something sealed that cannot be opened: with another key, for another place, or tampered with. */
export class CannotUnseal extends OwnError {
  override readonly name = 'CannotUnseal'
}

// One call for many: asking the generator for 12 bytes takes as long as asking for 12,000.
const randomBytesAtOnce = Buffer.alloc(12_000)
let used = randomBytesAtOnce.length

/** Random bytes, which nobody has had before. They are to be used at once: their place is filled again later. */
const freshBytes = (count: number): Buffer => {
  if (used + count > randomBytesAtOnce.length) {
    randomFillSync(randomBytesAtOnce)
    used = 0
  }
  used += count
  return randomBytesAtOnce.subarray(used - count, used)
}

/** A new key for `encrypt`. */
export const newKey = (): KeyObject => createSecretKey(freshBytes(keyBytes))

/**
 * AES-256-GCM under a random IV: IV, ciphertext and tag in one. `place` is authenticated and not contained. Keys are key
 * objects, since the cipher takes five times as long with the bytes of a key.
 */
export const encrypt = (key: KeyObject, plaintext: string | Buffer, binding: Buffer): Buffer => {
  const iv = freshBytes(ivBytes)
  const cipher = createCipheriv(algorithm, key, iv, { authTagLength: tagBytes }).setAAD(binding)
  const ciphertext = typeof plaintext === 'string' ? cipher.update(plaintext, 'utf8') : cipher.update(plaintext)
  return Buffer.concat([iv, ciphertext, cipher.final(), cipher.getAuthTag()])
}

/** The bytes that were encrypted with the same key for the same place; throws `CannotUnseal` for anything else. */
export const decrypt = (key: KeyObject, sealed: Buffer, binding: Buffer): Buffer => {
  if (sealed.length < ivBytes + tagBytes) throw new CannotUnseal('It was cut short.')
  const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, ivBytes), { authTagLength: tagBytes })
    .setAAD(binding)
    .setAuthTag(sealed.subarray(-tagBytes))
  const opened = decipher.update(sealed.subarray(ivBytes, -tagBytes))
  try {
    decipher.final()
  } catch (cause) {
    throw new CannotUnseal('It was sealed for another place, or was tampered with.', { cause })
  }
  return opened
}
