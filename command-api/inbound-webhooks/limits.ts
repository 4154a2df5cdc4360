import { makeRateLimit } from '#infra/http/rate-limit.ts'
import type { Parts } from '#infra/role-parts.ts'
import type { DeliveryLimits } from './signed-delivery.ts'

/** Limits of inbound deliveries in five minutes: from an address, of those that are signed, and of those that are refused. */
export const makeInboundLimits = ({ pool, log }: Pick<Parts, 'pool' | 'log'>) => {
  const limit = (name: string, requests: number) => makeRateLimit({ requests, windowSeconds: 300, name, pool, log })
  const fromSender = limit('inbound_address', 30_000)
  return (name: string): DeliveryLimits => ({
    fromSender,
    signed: limit(name, 3_000),
    refused: limit(`${name}_refused`, 3_000),
  })
}
