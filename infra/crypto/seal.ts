import { CannotUnseal, decrypt, encrypt } from './aead.ts'
import type { Keys } from './keys.ts'

/** The place that something was sealed for: a sealed value that is put elsewhere cannot be opened there. */
type Binding = readonly string[]

export const bindingBytes = (binding: Binding): Buffer => Buffer.from(JSON.stringify(binding))

/**
 * Encrypts a secret that is to be stored, for one place only (`[organisation_id, stream, field]`, for example).
 * The result is text, and names the master key that sealed it.
 */
export const seal = ({ sealing }: Pick<Keys, 'sealing'>, plaintext: string, binding: Binding): string =>
  `${sealing.id}.${encrypt(sealing.key, plaintext, bindingBytes(binding)).toString('base64url')}`

/** The secret sealed, under the present master key or an earlier one, for the same place. */
export const unseal = ({ sealing }: Pick<Keys, 'sealing'>, sealed: string, binding: Binding): string => {
  const [keyId = '', encoded = ''] = sealed.split('.')
  const key = sealing.all.get(keyId)
  if (!key)
    throw new CannotUnseal(
      `It was sealed under the master key ${JSON.stringify(keyId)}, which is neither MASTER_KEY nor one of MASTER_KEYS_EARLIER.`,
    )
  return decrypt(key, Buffer.from(encoded, 'base64url'), bindingBytes(binding)).toString()
}

/**
 * The sealed secret, or why it cannot be opened: where there are several secrets, one that is lost keeps nobody from the
 * others.
 */
export const unsealOrFault = (
  keys: Pick<Keys, 'sealing'>,
  sealed: string,
  binding: Binding,
): { readonly secret: string } | { readonly fault: CannotUnseal } => {
  try {
    return { secret: unseal(keys, sealed, binding) }
  } catch (error) {
    if (error instanceof CannotUnseal) return { fault: error }
    throw error
  }
}

/** The id of the master key that something was sealed under. */
export const sealedUnder = (sealed: string): string => sealed.slice(0, sealed.indexOf('.'))

/**
 * True where this very secret is sealed there, under the present master key. One that is sealed under an earlier key, or that
 * cannot be opened any more, is to be sealed again.
 */
export const holdsSecret = (keys: Pick<Keys, 'sealing'>, sealed: string, binding: Binding, secret: string): boolean => {
  if (sealedUnder(sealed) !== keys.sealing.id) return false
  const opened = unsealOrFault(keys, sealed, binding)
  return 'secret' in opened && opened.secret === secret
}
