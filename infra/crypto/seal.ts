import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { Keys } from './keys.ts'

const algorithm = 'aes-256-gcm'
const ivBytes = 12
const tagBytes = 16

/** What something was sealed for: a sealed value that is put elsewhere cannot be opened there. */
type Place = readonly string[]

const aadOf = (place: Place): Buffer => Buffer.from(JSON.stringify(place))

/**
 * Encrypts a secret that is to be stored, for one place only (`[organisation_id, stream, field]`, for example).
 * The result is text, and names the key that sealed it.
 */
export const seal = ({ sealing }: Pick<Keys, 'sealing'>, plaintext: string, place: Place): string => {
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv(algorithm, sealing.key, iv, { authTagLength: tagBytes }).setAAD(aadOf(place))
  const ciphertext = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()])
  return `${sealing.id}.${Buffer.concat([iv, ciphertext, cipher.getAuthTag()]).toString('base64url')}`
}

/** Something sealed that cannot be opened: with another master key, for another place, or tampered with. */
export class CannotUnseal extends Error {
  override readonly name = 'CannotUnseal'
}

/** What was sealed, for the same place. */
export const unseal = ({ sealing }: Pick<Keys, 'sealing'>, sealed: string, place: Place): string => {
  const [keyId, encoded = ''] = sealed.split('.')
  if (keyId !== sealing.id) throw new CannotUnseal('It was sealed with another master key than the one in use.')

  const bytes = Buffer.from(encoded, 'base64url')
  if (bytes.length < ivBytes + tagBytes) throw new CannotUnseal('It was cut short.')
  const iv = bytes.subarray(0, ivBytes)
  const decipher = createDecipheriv(algorithm, sealing.key, iv, { authTagLength: tagBytes })
    .setAAD(aadOf(place))
    .setAuthTag(bytes.subarray(-tagBytes))
  try {
    return decipher.update(bytes.subarray(ivBytes, -tagBytes), undefined, 'utf8') + decipher.final('utf8')
  } catch (cause) {
    throw new CannotUnseal('It was sealed for another place, or was tampered with.', { cause })
  }
}
