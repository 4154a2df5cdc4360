import { createHash, createPrivateKey, createPublicKey, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto'

/** The keys that all follow from the master key. None tells anything of another, or of the master key. */
export type Keys = {
  /** Ed25519. `id` stands in the header of each token that it signs. */
  readonly tokens: { readonly id: string; readonly private: KeyObject; readonly public: KeyObject }
  readonly shareTokens: KeyObject
  /** `id` stands in front of whatever it sealed. */
  readonly sealing: { readonly id: string; readonly key: KeyObject }
}

const bytesNeeded = 32

/** PKCS#8 of an Ed25519 key up to its 32 bytes (RFC 8410): Node takes the bytes in no other form. */
const ed25519Prefix = Buffer.from('302e020100300506032b657004220420', 'hex')

const idOf = (publicPart: Buffer): string => createHash('sha256').update(publicPart).digest('hex').slice(0, 8)

/** `masterKey` is base64 or base64url of at least 32 random bytes. */
export const deriveKeys = (masterKey: string): Keys => {
  const master = Buffer.from(masterKey, 'base64')
  if (master.length < bytesNeeded) throw new RangeError(`The master key must have at least ${bytesNeeded} bytes.`)

  const derive = (purpose: string): Buffer =>
    Buffer.from(hkdfSync('sha256', master, 'coverstream', purpose, bytesNeeded))

  const privateKey = createPrivateKey({
    key: Buffer.concat([ed25519Prefix, derive('token signing')]),
    format: 'der',
    type: 'pkcs8',
  })
  const publicKey = createPublicKey(privateKey)

  return {
    tokens: { id: idOf(publicKey.export({ format: 'der', type: 'spki' })), private: privateKey, public: publicKey },
    shareTokens: createSecretKey(derive('share tokens')),
    sealing: { id: idOf(derive('sealing key id')), key: createSecretKey(derive('sealing')) },
  }
}
