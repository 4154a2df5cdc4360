import { CannotUnseal, decrypt, encrypt } from './aead.ts'
import type { Keys } from './keys.ts'

/** What something was sealed for: a sealed value that is put elsewhere cannot be opened there. */
type Place = readonly string[]

export const placeBytes = (place: Place): Buffer => Buffer.from(JSON.stringify(place))

/**
 * Encrypts a secret that is to be stored, for one place only (`[organisation_id, stream, field]`, for example).
 * The result is text, and names the master key that sealed it.
 */
export const seal = ({ sealing }: Pick<Keys, 'sealing'>, plaintext: string, place: Place): string =>
  `${sealing.id}.${encrypt(sealing.key, plaintext, placeBytes(place)).toString('base64url')}`

/** What was sealed, under the present master key or an earlier one, for the same place. */
export const unseal = ({ sealing }: Pick<Keys, 'sealing'>, sealed: string, place: Place): string => {
  const [keyId = '', encoded = ''] = sealed.split('.')
  const key = sealing.all.get(keyId)
  if (!key)
    throw new CannotUnseal(
      `It was sealed under the master key ${JSON.stringify(keyId)}, which is neither MASTER_KEY nor one of MASTER_KEYS_EARLIER.`,
    )
  return decrypt(key, Buffer.from(encoded, 'base64url'), placeBytes(place)).toString()
}

/** What was sealed, or why it cannot be opened: where there are several secrets, one that is lost keeps nobody from the others. */
export const unsealOrFault = (
  keys: Pick<Keys, 'sealing'>,
  sealed: string,
  place: Place,
): { readonly secret: string } | { readonly fault: CannotUnseal } => {
  try {
    return { secret: unseal(keys, sealed, place) }
  } catch (error) {
    if (error instanceof CannotUnseal) return { fault: error }
    throw error
  }
}

/** The id of the master key that something was sealed under. */
export const sealedUnder = (sealed: string): string => sealed.slice(0, sealed.indexOf('.'))

/**
 * Whether it is this secret that is sealed there, under the present master key. One that is sealed under an earlier key, or
 * that cannot be opened any more, is to be sealed anew.
 */
export const holdsSecret = (keys: Pick<Keys, 'sealing'>, sealed: string, place: Place, secret: string): boolean => {
  if (sealedUnder(sealed) !== keys.sealing.id) return false
  const opened = unsealOrFault(keys, sealed, place)
  return 'secret' in opened && opened.secret === secret
}
