import express, { Router, type Request } from 'express'
import { PaymentMode } from '#domain/payment-accounts/events.ts'
import { paymentAccountOf, paymentSecretPlace, type SealedPaymentAccount } from '#domain/payment-accounts/record.ts'
import { OrganisationId } from '#domain/values.ts'
import type { CannotUnseal } from '#infra/crypto/aead.ts'
import type { Keys } from '#infra/crypto/keys.ts'
import { unsealOrFault } from '#infra/crypto/seal.ts'
import { notFound, Problem, problems } from '#infra/http/problem.ts'
import { addressOf, type RateLimit } from '#infra/http/rate-limit.ts'
import type { Log } from '#infra/log.ts'
import type { Clock } from '#infra/clock.ts'
import { isSignedBy, readNews, type ProviderNews } from '#infra/stripe/news.ts'
import type { Context } from '../handle.ts'

type Deps = {
  readonly keys: Pick<Keys, 'sealing'>
  readonly paymentAccounts: ReadonlyMap<string, SealedPaymentAccount>
  /** Counts by themselves: the provider's deliveries are no requests to the API. */
  readonly rateLimit: RateLimit
  readonly receive: (organisation_id: OrganisationId, news: ProviderNews, context: Context) => Promise<void>
  readonly clock: Clock
  readonly log: Log
}

const address = '/api/v1/webhooks/stripe/:organisation_id'
const bodyLimit = '1mb'

/**
 * What the payment provider tells of by itself. The signature is checked on the bytes as they came, before they are read.
 * What could not be acted upon is answered 5xx, so that the provider sends it again.
 */
export const paymentWebhook = (deps: Deps): Router => {
  const router = Router({ caseSensitive: true, strict: true })
  router.post(
    address,
    limitRate(deps),
    express.raw({ type: () => true, limit: bodyLimit }),
    async (request, response) => {
      const { success, data: organisation_id } = OrganisationId.safeParse(request.params['organisation_id'])
      if (!success) throw notFound('organisation')
      const body: unknown = request.body
      const account = signingAccount(deps, organisation_id, Buffer.isBuffer(body) ? body : Buffer.alloc(0), request)
      const news = readNews(body as Buffer) // whoever signed it has sent bytes
      if (news !== 'other' && isOf(account, news))
        await deps.receive(organisation_id, news, {
          organisation_id,
          actor: { type: 'system', id: 'stripe' },
          correlation_id: String(response.locals['request_id']),
          now: deps.clock.now().toISOString(),
        })
      response.json({ received: true })
    },
  )
  return router.use(problems(deps.log))
}

const limitRate =
  ({ rateLimit }: Deps): express.RequestHandler =>
  async (request, response, next) => {
    response.locals['address'] = address
    const decision = await rateLimit(`${String(request.params['organisation_id'])} ${addressOf(request)}`)
    if (!decision.served)
      throw new Problem('rate_limited', 'Too many deliveries for this organisation from this address.', {
        headers: { 'X-RateLimit-Reset': String(decision.resumesAt) },
      })
    next()
  }

/** The account whose secret the delivery is signed with. */
const signingAccount = (
  { keys, paymentAccounts }: Deps,
  organisation_id: OrganisationId,
  body: Buffer,
  request: Request,
): SealedPaymentAccount => {
  const header = request.get('stripe-signature') ?? ''
  let closed: CannotUnseal | undefined
  for (const mode of PaymentMode.options) {
    const account = paymentAccountOf(paymentAccounts, organisation_id, mode)
    if (!account || account.sealed_webhook_secret === null) continue
    const place = paymentSecretPlace(organisation_id, account.id, 'webhook_secret')
    const opened = unsealOrFault(keys, account.sealed_webhook_secret, place)
    if ('fault' in opened) closed = opened.fault
    else if (isSignedBy(opened.secret, body, header)) return account
  }
  // It may be signed by the one that cannot be opened: it is to be sent again, not given up.
  if (closed && header !== '') throw closed
  throw new Problem('forbidden', 'The signature is missing, is not that of this organisation’s account, or is too old.')
}

/** News of the other mode, or of another account connected to the same platform, is not ours. */
const isOf = ({ mode, stripe_account }: SealedPaymentAccount, news: ProviderNews): boolean =>
  news.livemode === (mode === 'live') && (stripe_account === null || news.account === stripe_account)
