import type { KeyObject } from 'node:crypto'
import type { Config } from '../config.ts'
import { ed25519Key } from '../crypto/keys.ts'
import { bytesOfPublicKey } from './signed-note.ts'

/** The key that signs; none where AUDIT_KEY is not set. */
export const signingKeyOf = ({ AUDIT_KEY }: Pick<Config, 'AUDIT_KEY'>): KeyObject | undefined =>
  AUDIT_KEY === undefined ? undefined : ed25519Key(Buffer.from(AUDIT_KEY, 'base64'))

/** The public part of the present key and of each former one. */
export const publicKeysOf = (config: Pick<Config, 'AUDIT_KEY' | 'AUDIT_KEYS_EARLIER'>): readonly Buffer[] => {
  const present = config.AUDIT_KEY === undefined ? [] : [config.AUDIT_KEY]
  return [...present, ...config.AUDIT_KEYS_EARLIER].map((seed) =>
    bytesOfPublicKey(ed25519Key(Buffer.from(seed, 'base64'))),
  )
}
