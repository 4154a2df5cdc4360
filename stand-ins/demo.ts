import { startAddresses } from './addresses.ts'
import { startMarketPanel } from './market-panel.ts'
import { startPhoneValidation } from './phone-validation.ts'
import { startStripe } from './stripe/stripe.ts'
import type { StandIn } from './stand-in.ts'

/** Where the demo organisation's accounts point: see `demo/organisation.yaml`. */
const ports = { phoneValidation: 4021, addresses: 4022, marketPanel: 4023, stripe: 4024 }

/** What its account of `demo/organisation.yaml` is signed with. */
const stripeSecret = 'whsec_demo_of_northlight'
const organisation = 'd3e00000-0000-4000-8000-000000000000'

const isTaken = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'

/** Starts what stands in for outside parties. A port that is taken is left to whoever has it: most likely another demo. */
export const startStandIns = async (origin: string): Promise<{ readonly close: () => Promise<void> }> => {
  const starting: readonly Promise<StandIn>[] = [
    startPhoneValidation(ports.phoneValidation),
    startAddresses(ports.addresses),
    startMarketPanel(ports.marketPanel),
    startStripe(ports.stripe, [{ url: `${origin}/api/v1/webhooks/stripe/${organisation}`, secret: stripeSecret }]),
  ]
  const started: StandIn[] = []
  for (const attempt of await Promise.allSettled(starting)) {
    if (attempt.status === 'fulfilled') started.push(attempt.value)
    else if (!isTaken(attempt.reason)) throw attempt.reason
  }
  return {
    close: async () => {
      await Promise.all(started.map(async ({ close }) => close()))
    },
  }
}
