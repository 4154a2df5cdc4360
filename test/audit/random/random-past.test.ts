import { expect, test } from 'vitest'
import { startStripe } from '../../../stand-ins/stripe/stripe.ts'
import { randomFrom } from '../../journeys/random.ts'
import { wholeService } from '../../whole-service.ts'
import { actAtRandom } from './acts.ts'
import { compare, findGone, keep, type Compared, type Kept } from './kept.ts'
import { openWorld, type World } from './world.ts'

/** So many, or as many as `npm run look-back` asks for. */
const wanted = Number(process.env['RANDOM_ACTS'] ?? 150)
const seed = Number(process.env['RANDOM_ACTS_SEED'] ?? Date.now() % 1_000_000)
const mostAtOnce = 16

const report = (text: string): void => {
  if (process.env['RANDOM_ACTS'] !== undefined) process.stderr.write(`${text}\n`)
}

/** Some acts at a time, and then what records look like. */
const live = async (world: World): Promise<readonly Kept[]> => {
  const kept: Kept[] = []
  let told = 0
  while (world.acts() < wanted) {
    const some = 1 + Math.floor(world.random() * mostAtOnce)
    await Promise.all(Array.from({ length: some }, async () => actAtRandom(world)))
    kept.push(...(await keep(world)))
    if (world.acts() - told >= 200) {
      told = world.acts()
      report(`${told} acts, ${world.refused()} refused, ${kept.length} answers kept`)
    }
  }
  return kept
}

const compareAll = async (world: World, kept: readonly Kept[]): Promise<readonly Compared[]> => {
  const compared: Compared[] = []
  const rest = kept.values()
  const compareSome = async () => {
    for (const each of rest) {
      compared.push(await compare(world, each))
      if (compared.length % 500 === 0) report(`${compared.length} answers compared`)
    }
  }
  await Promise.all([compareSome(), compareSome()])
  return compared
}

test(
  'after many random acts each answer that was given equals the answer as of its position, but for what is gone with people',
  { timeout: 300_000 + wanted * 2_000 },
  async () => {
    const stripe = await startStripe()
    try {
      await using service = await wholeService({ DELIVERY_ALLOWED_HOSTS: '127.0.0.1', DELIVERY_ALLOW_HTTP: 'true' })
      const world = await openWorld(service, stripe.url, randomFrom(seed))
      const kept = await live(world)
      report(`${world.acts()} acts, ${kept.length} answers kept; seed ${seed}`)
      const compared = await compareAll(world, kept)

      const { people, records } = await findGone(world)
      const wrong = compared.filter(({ changes, isEmptied, ids, said }) => {
        if (changes.length > 0 && !(isEmptied && ids.some((id) => records.has(id)))) return true
        // One that names somebody who is gone holds nothing that others said of themselves.
        return said.length > 0 && ids.some((id) => people.has(id))
      })
      const emptied = compared.filter(({ changes }) => changes.length > 0)
      report(`${compared.length} answers compared, ${emptied.length} of them with values that are gone`)
      expect({ wrong, seed }).toEqual({ wrong: [], seed })
      expect(compared.length).toBeGreaterThan(wanted / 2)
    } finally {
      await stripe.close()
    }
  },
)
