import { createHash, createPrivateKey, createPublicKey, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto'

/**
 * The keys that follow from the master keys. None reveals anything of another, or of a master key. New things are made
 * with the present master key; what was made with an earlier one is still read.
 */
export type Keys = {
  /** Ed25519. `id` is in the header of each signed token; `public` has the earlier keys too, by id. */
  readonly tokens: {
    readonly id: string
    readonly private: KeyObject
    readonly public: ReadonlyMap<string, KeyObject>
  }
  readonly shareTokens: { readonly key: KeyObject; readonly earlier: readonly KeyObject[] }
  /** Sign the links of messages that people receive. */
  readonly links: { readonly key: KeyObject; readonly earlier: readonly KeyObject[] }
  /** `id` is the id of the master key and the prefix of each sealed value; `all` has the earlier keys too. */
  readonly sealing: { readonly id: string; readonly key: KeyObject; readonly all: ReadonlyMap<string, KeyObject> }
}

const bytesNeeded = 32

/** PKCS#8 of an Ed25519 key up to its 32 bytes (RFC 8410): Node takes the bytes in no other form. */
const ed25519Prefix = Buffer.from('302e020100300506032b657004220420', 'hex')

const idOf = (publicPart: Buffer): string => createHash('sha256').update(publicPart).digest('hex').slice(0, 8)

/** The signing key of 32 random bytes. */
export const ed25519Key = (seed: Buffer): KeyObject =>
  createPrivateKey({ key: Buffer.concat([ed25519Prefix, seed]), format: 'der', type: 'pkcs8' })

/** Each master key is base64 or base64url of at least 32 random bytes. */
export const deriveKeys = (masterKey: string, earlierMasterKeys: readonly string[] = []): Keys => {
  const present = deriveFrom(masterKey)
  const all = [...earlierMasterKeys.map(deriveFrom), present]
  return {
    tokens: {
      id: present.tokens.id,
      private: present.tokens.private,
      public: new Map(all.map(({ tokens }) => [tokens.id, tokens.public])),
    },
    shareTokens: { key: present.shareTokens, earlier: all.slice(0, -1).map(({ shareTokens }) => shareTokens) },
    links: { key: present.links, earlier: all.slice(0, -1).map(({ links }) => links) },
    sealing: { ...present.sealing, all: new Map(all.map(({ sealing }) => [sealing.id, sealing.key])) },
  }
}

const deriveFrom = (masterKey: string) => {
  const master = Buffer.from(masterKey, 'base64')
  if (master.length < bytesNeeded) throw new RangeError(`A master key must have at least ${bytesNeeded} bytes.`)

  const derive = (purpose: string): Buffer =>
    Buffer.from(hkdfSync('sha256', master, 'coverstream', purpose, bytesNeeded))

  const privateKey = ed25519Key(derive('token signing'))
  const publicKey = createPublicKey(privateKey)

  return {
    tokens: { id: idOf(publicKey.export({ format: 'der', type: 'spki' })), private: privateKey, public: publicKey },
    shareTokens: createSecretKey(derive('share tokens')),
    links: createSecretKey(derive('links of messages')),
    sealing: { id: idOf(derive('sealing key id')), key: createSecretKey(derive('sealing')) },
  }
}
