import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { startAddresses } from './addresses.ts'
import { startDraftWriter } from './draft-writer.ts'
import { startLeadReader } from './lead-reader.ts'
import { startMarketPanel } from './market-panel.ts'
import { startMessageGateway } from './message-gateway.ts'
import { startPhoneValidation } from './phone-validation.ts'
import { startStripe } from './stripe/stripe.ts'
import { startTps } from './tps.ts'

/** The ports of the demo organisation's accounts, and of its webhooks: see `demo/organisation.yaml`. */
const defaults = {
  receiver: 4010,
  phoneValidation: 4021,
  addresses: 4022,
  marketPanel: 4023,
  stripe: 4024,
  tps: 4025,
  leadReader: 4026,
  messageGateway: 4027,
  draftWriter: 4028,
}
type Ports = Readonly<Record<keyof typeof defaults, number>>
type StandInName = Exclude<keyof Ports, 'receiver'>
const Ports = z.record(z.string(), z.int())

/** The signing secrets of events for the accounts of `demo/organisation.yaml`. */
const stripeSecret = 'whsec_demo_of_northlight'
const gatewaySecret = 'demo-secret-of-the-gateway'
const organisation = 'd3e00000-0000-4000-8000-000000000000'

export const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code

/** On this port, or on a free one where another service runs its demo there. */
export const startOn = async <Started>(port: number, start: (port: number) => Promise<Started>): Promise<Started> =>
  start(port).catch(async (error: unknown) => {
    if (isCode(error, 'EADDRINUSE')) return start(0)
    throw error
  })

/** The stand-ins for outside parties: by the address in `demo/organisation.yaml`, the one that each has. */
export type StandIns = {
  readonly addresses: Readonly<Record<string, string>>
  readonly close: () => Promise<void>
}

const portsFile = (dataDir: string): string => join(dataDir, 'stand-ins.json')

const knownPorts = async (dataDir: string): Promise<Ports> => {
  const text = await readFile(portsFile(dataDir), 'utf8').catch((error: unknown) => {
    if (isCode(error, 'ENOENT')) return undefined
    throw error
  })
  return { ...defaults, ...(text !== undefined && Ports.parse(JSON.parse(text))) }
}

/** The address of a stand-in, or of the receiver of webhooks that the journey starts, for the demo that keeps its data there. */
export const standInAddress = async (name: keyof Ports, dataDir: string): Promise<string> =>
  `http://127.0.0.1:${(await knownPorts(dataDir))[name]}`

/** Starts them where they were the last time: the accounts of the demo organisation keep their addresses. */
export const startStandIns = async (origin: string, dataDir: string): Promise<StandIns> => {
  const known = await knownPorts(dataDir)
  const webhooks = [{ url: `${origin}/api/v1/webhooks/stripe/${organisation}`, secret: stripeSecret }]
  const news = { url: `${origin}/api/v1/webhooks/messages/${organisation}`, secret: gatewaySecret }
  const starting: Readonly<
    Record<StandInName, Promise<{ readonly url: string; readonly close: () => Promise<void> }>>
  > = {
    phoneValidation: startOn(known.phoneValidation, startPhoneValidation),
    addresses: startOn(known.addresses, startAddresses),
    marketPanel: startOn(known.marketPanel, startMarketPanel),
    stripe: startOn(known.stripe, (port) =>
      startStripe(port, {
        endpoints: webhooks,
        banks: { afterMs: 2_000 },
        file: join(dataDir, 'stripe-stand-in.jsonl'),
      }),
    ),
    tps: startOn(known.tps, startTps),
    leadReader: startOn(known.leadReader, startLeadReader),
    messageGateway: startOn(known.messageGateway, (port) => startMessageGateway(port, news)),
    draftWriter: startOn(known.draftWriter, startDraftWriter),
  }
  const started = await Promise.all(Object.entries(starting).map(async ([name, each]) => ({ name, ...(await each) })))
  const own = Object.fromEntries(started.map(({ name, url }) => [name, Number(new URL(url).port)]))
  const ports: Ports = { ...known, ...own }
  await writeFile(portsFile(dataDir), JSON.stringify(ports))

  return {
    addresses: Object.fromEntries(
      (Object.keys(defaults) as (keyof Ports)[]).map((name) => [
        `http://127.0.0.1:${defaults[name]}`,
        `http://127.0.0.1:${ports[name]}`,
      ]),
    ),
    close: async () => {
      await Promise.all(started.map(async ({ close }) => close()))
    },
  }
}
