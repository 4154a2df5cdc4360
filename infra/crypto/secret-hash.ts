import { createHmac, randomBytes, scrypt, timingSafeEqual, type ScryptOptions } from 'node:crypto'
import { LRUCache } from 'lru-cache'

const saltBytes = 16
const hashBytes = 32
const cost = { N: 2 ** 14, r: 8, p: 1 }

/** A secret that cannot be guessed, of characters that need no encoding anywhere. */
export const generateSecret = (): string => randomBytes(32).toString('base64url')

// Not promisify(): its types know nothing of the overload with options.
const stretch = (secret: string, salt: Buffer, options: ScryptOptions): Promise<Buffer> => {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  scrypt(secret, salt, hashBytes, options, (error, hash) => (error ? reject(error) : resolve(hash)))
  return promise
}

/** A salted scrypt hash with its cost, in the PHC string format. */
export const hashSecret = async (secret: string): Promise<string> => {
  const salt = randomBytes(saltBytes)
  const hash = await stretch(secret, salt, cost)
  return `$scrypt$ln=${Math.log2(cost.N)},r=${cost.r},p=${cost.p}$${unpadded(salt)}$${unpadded(hash)}`
}

const unpadded = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '')

const phc = /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/

const verify = async (secret: string, stored: string): Promise<boolean> => {
  const [, ln, r, p, salt, hash] = phc.exec(stored) ?? []
  if (salt === undefined || hash === undefined) throw new Error('A stored secret hash is not one of ours.')
  const options = { N: 2 ** Number(ln), r: Number(r), p: Number(p), maxmem: 256 * 2 ** 20 }
  return timingSafeEqual(await stretch(secret, Buffer.from(salt, 'base64'), options), Buffer.from(hash, 'base64'))
}

/** Whether a secret is the one that was hashed. */
export type SecretCheck = (secret: string, stored: string) => Promise<boolean>

/**
 * Checks secrets, and caches the outcome, since a hash is made to take long. A cached outcome belongs to one stored
 * hash, so a rotation, which stores another, makes it worthless; and it is keyed so that it gives no secret away.
 */
export const makeSecretCheck = (): SecretCheck => {
  const key = randomBytes(32)
  const known = new LRUCache<string, Promise<boolean>>({ max: 10_000 })

  return async (secret, stored) => {
    const name = createHmac('sha256', key)
      .update(JSON.stringify([stored, secret]))
      .digest('base64url')
    const remembered = known.get(name)
    if (remembered) return remembered

    const outcome = verify(secret, stored)
    known.set(name, outcome)
    outcome.catch(() => known.delete(name))
    return outcome
  }
}
