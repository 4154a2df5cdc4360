import { createHmac, randomBytes, scrypt, timingSafeEqual, type ScryptOptions } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { OwnError } from '#domain/own-error.ts'

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
  return phcOf(salt, hash)
}

const phcOf = (salt: Buffer, hash: Buffer): string =>
  `$scrypt$ln=${Math.log2(cost.N)},r=${cost.r},p=${cost.p}$${unpadded(salt)}$${unpadded(hash)}`

const unpadded = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '')

const phc = /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/

const verify = async (secret: string, stored: string): Promise<boolean> => {
  const [, ln, r, p, salt, hash] = phc.exec(stored) ?? []
  if (salt === undefined || hash === undefined) throw new Error('A stored secret hash is not one of ours.')
  const options = { N: 2 ** Number(ln), r: Number(r), p: Number(p), maxmem: 256 * 2 ** 20 }
  const isHashed = timingSafeEqual(
    await stretch(secret, Buffer.from(salt, 'base64'), options),
    Buffer.from(hash, 'base64'),
  )
  // scrypt fills up short secrets with zeros: with a zero at its end, a secret has the same hash.
  return isHashed && !secret.includes('\0')
}

/** Checks that a secret is the one that was hashed. Checks under one name, by default that of the hash, wait in one line. */
export type SecretCheck = (secret: string, stored: string, name?: string) => Promise<boolean>

/** Hashes that no secret has, the same for the same name: to check one is as much work as to check any other. */
export const makeHashOfNobody = (): ((name: string) => string) => {
  const key = randomBytes(32)
  return (name) => {
    const bytes = createHmac('sha384', key).update(name).digest()
    return phcOf(bytes.subarray(0, saltBytes), bytes.subarray(saltBytes))
  }
}

/** Too many secrets wait to be checked: this one is not. */
export class TooManyChecks extends OwnError {
  override readonly name = 'TooManyChecks'
}

/** A check keeps a thread and 16 MB for some 50 ms; Node.js has four threads, which also read files and look up names. */
const usualBounds = { atOnce: 2, waiting: 200, waitingForOneHash: 20 }

/** Begins works in the order of their arrival, not all at once. What comes for a name is refused when too much waits. */
const makeQueue = ({ atOnce, waiting, waitingForOneHash }: typeof usualBounds) => {
  const queue: (() => void)[] = []
  const waitingFor = new Map<string, number>()
  let underWay = 0

  const turn = async (name: string): Promise<void> => {
    const ofThisName = waitingFor.get(name) ?? 0
    if (queue.length >= waiting || ofThisName >= waitingForOneHash)
      throw new TooManyChecks(`${queue.length} secrets wait to be checked, ${ofThisName} of them for the same hash.`)
    waitingFor.set(name, ofThisName + 1)
    await new Promise<void>((resolve) => queue.push(resolve))
    const left = (waitingFor.get(name) ?? 1) - 1
    if (left === 0) waitingFor.delete(name)
    else waitingFor.set(name, left)
  }

  return async <Result>(name: string, work: () => Promise<Result>): Promise<Result> => {
    // A place that becomes free is given to the next that waits, so that nobody overtakes it.
    if (underWay >= atOnce) await turn(name)
    else underWay++
    try {
      return await work()
    } finally {
      const next = queue.shift()
      if (next) next()
      else underWay--
    }
  }
}

/**
 * Checks secrets, and caches the outcome, since a hash is made to take long. A cached outcome belongs to one stored
 * hash, so a rotation, which stores another, makes it worthless; and it is keyed so that it gives no secret away. Throws
 * TooManyChecks when too many others wait: whoever guesses the secret of one application must not keep all from tokens.
 */
export const makeSecretCheck = (bounds: typeof usualBounds = usualBounds): SecretCheck => {
  const key = randomBytes(32)
  // Apart, so that guesses drive out no secret that is in use.
  const right = new LRUCache<string, true>({ max: 10_000 })
  const others = new LRUCache<string, Promise<boolean>>({ max: 10_000 })
  const inTurn = makeQueue(bounds)

  return async (secret, stored, name = stored) => {
    const asked = createHmac('sha256', key)
      .update(JSON.stringify([stored, secret]))
      .digest('base64url')
    if (right.has(asked)) return right.get(asked) === true
    const remembered = others.get(asked)
    if (remembered) return remembered

    const outcome = inTurn(name, () => verify(secret, stored)).then((isRight) => {
      if (isRight) {
        right.set(asked, true)
        others.delete(asked)
      }
      return isRight
    })
    others.set(asked, outcome)
    outcome.catch(() => others.delete(asked))
    return outcome
  }
}
