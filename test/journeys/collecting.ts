import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { setUpDemo } from '../../demo/demo.ts'
import { startStandIns } from '../../stand-ins/demo.ts'
import { startStripe } from '../../stand-ins/stripe/stripe.ts'
import { withOwnReceiver } from './own-receiver.ts'

const northlight = 'd3e00000-0000-4000-8000-000000000000'

/** The demo firm, set up in a service, with a payment provider that says what it was asked to collect. */
export const startCollecting = async (origin: string, operatorKey: string) => {
  const directory = await mkdtemp(join(tmpdir(), 'coverstream-collecting-'))
  await withOwnReceiver(directory)
  const standIns = await startStandIns(origin, directory)
  const news = `${origin}/api/v1/webhooks/stripe/${northlight}`
  const stripe = await startStripe(0, {
    endpoints: [{ url: news, secret: 'whsec_demo_of_northlight' }],
    banks: { afterMs: 500 },
  })
  // The journey pays there, too.
  const ports = join(directory, 'stand-ins.json')
  const known = z.record(z.string(), z.int()).parse(JSON.parse(await readFile(ports, 'utf8')))
  await writeFile(ports, JSON.stringify({ ...known, stripe: Number(new URL(stripe.url).port) }))
  await setUpDemo(origin, operatorKey, { ...standIns.addresses, 'http://127.0.0.1:4024': stripe.url })
  return {
    directory,
    collected: (): readonly string[] =>
      stripe
        .objects()
        .filter(({ object, mandate }) => object === 'payment_intent' && mandate)
        .map(({ metadata }) => JSON.stringify(metadata)),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([standIns.close(), stripe.close()])
      await rm(directory, { recursive: true })
    },
  }
}

/** Moves business time of a test installation past all days in a row on which no bank works. */
export const aMonthLater = async (origin: string, operatorKey: string): Promise<void> => {
  const body = JSON.stringify({ forward_seconds: 40 * 86_400 })
  const headers = { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/json' }
  const { status } = await fetch(`${origin}/admin/v1/clock`, { method: 'POST', headers, body })
  if (status !== 200) throw new Error(`The clock was not moved: ${status}.`)
}
