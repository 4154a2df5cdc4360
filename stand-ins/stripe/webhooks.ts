import { createHmac } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { makeId, secondsNow, type StripeObject } from './objects.ts'

export type WebhookEndpoint = { readonly url: string; readonly secret: string }

/** The `Stripe-Signature` of a payload. */
export const signatureOf = (secret: string, payload: string, at = secondsNow()): string =>
  `t=${at},v1=${createHmac('sha256', secret).update(`${at}.${payload}`).digest('hex')}`

export const eventOf = (type: string, object: StripeObject): StripeObject => ({
  id: makeId('evt'),
  object: 'event',
  api_version: '2026-10-28.endive',
  created: secondsNow(),
  livemode: false,
  pending_webhooks: 1,
  request: { id: null, idempotency_key: null },
  type,
  data: { object },
})

const attempts = 8
const timeoutMs = 5_000

/** Posts what happens, signed, to each endpoint; what is not taken is sent again a few times. */
export const makeWebhooks = (initial: readonly WebhookEndpoint[]) => {
  const stopping = new AbortController()
  const underway = new Set<Promise<void>>()
  let endpoints = initial

  const post = async ({ url, secret }: WebhookEndpoint, payload: string): Promise<void> => {
    for (let attempt = 1; attempt <= attempts && !stopping.signal.aborted; attempt++) {
      const headers = { 'content-type': 'application/json', 'stripe-signature': signatureOf(secret, payload) }
      const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(timeoutMs)])
      const answer = await fetch(url, { method: 'POST', headers, body: payload, signal }).catch(() => undefined)
      await answer?.body?.cancel()
      if (answer?.ok) return
      await pause(200 * 2 ** attempt, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }

  return {
    isHeard: (): boolean => endpoints.length > 0,
    /** Posts an event once it is `written`; `told` follows when it was taken, or given up, unless all was stopped before. */
    announce: (event: StripeObject, written: Promise<void>, told: () => void): void => {
      const payload = JSON.stringify(event)
      const to = endpoints
      const posting = written
        .then(async () => Promise.all(to.map(async (endpoint) => post(endpoint, payload))))
        .then(() => {
          if (!stopping.signal.aborted) told()
        })
        // What cannot be written down has not happened.
        .catch(() => undefined)
        .finally(() => underway.delete(posting))
      underway.add(posting)
    },
    announceTo: (others: readonly WebhookEndpoint[]): void => {
      endpoints = others
    },
    announced: async (): Promise<void> => {
      await Promise.all(underway)
    },
    stop: (): void => stopping.abort(),
  }
}
