import { Router } from 'express'
import { PaymentMode } from '#domain/payment-accounts/events.ts'
import { paymentAccountOf, paymentSecretBinding, type SealedPaymentAccount } from '#domain/payment-accounts/record.ts'
import { OrganisationId } from '#domain/values.ts'
import { notFound } from '#domain/rejection.ts'
import type { CannotUnseal } from '#infra/crypto/aead.ts'
import type { Keys } from '#infra/crypto/keys.ts'
import { unsealOrFault } from '#infra/crypto/seal.ts'
import { Problem, problems } from '#infra/http/problem.ts'
import type { Log } from '#infra/log.ts'
import type { Clock } from '#infra/clock.ts'
import { readProviderEvent, type ProviderEvent } from '#infra/stripe/provider-events.ts'
import { isSignedBy, mayBeSignature } from '#infra/stripe/signature.ts'
import type { Context } from '../writing/handle.ts'
import { provenDelivery, type DeliveryLimits } from '../inbound-webhooks/signed-delivery.ts'

type Deps = {
  readonly keys: Pick<Keys, 'sealing'>
  readonly paymentAccounts: ReadonlyMap<string, SealedPaymentAccount>
  /** Counts by themselves: the provider's deliveries are no requests to the API. */
  readonly limits: DeliveryLimits
  readonly receive: (organisation_id: OrganisationId, event: ProviderEvent, context: Context) => Promise<void>
  readonly clock: Clock
  readonly log: Log
}

const address = '/api/v1/webhooks/stripe/:organisation_id'
const mostBytes = 2 ** 20

/**
 * The payment provider's webhook. The signature is checked on the raw bytes, before they are read. An event that could not be
 * acted upon is answered 5xx, so that the provider sends it again.
 */
export const paymentWebhook = (deps: Deps): Router => {
  const router = Router({ caseSensitive: true, strict: true })
  router.post(address, async (request, response) => {
    response.locals['address'] = address
    const { success, data: organisation_id } = OrganisationId.safeParse(request.params['organisation_id'])
    const accounts = success ? signingAccounts(deps, organisation_id) : []
    const header = request.get('stripe-signature') ?? ''
    const { body, proof } = await provenDelivery(request, deps.limits, {
      organisation_id: accounts.length > 0 ? organisation_id : undefined,
      isWellSigned: mayBeSignature(header),
      mostBytes,
      prove: (sent) => signingAccount(deps, accounts, sent, header),
      refusal: success ? notSigned : notFound('organisation'),
    })
    const event = readProviderEvent(body)
    if (success && event !== 'other' && isOf(proof, event))
      await deps.receive(organisation_id, event, {
        organisation_id,
        actor: { type: 'system', id: 'stripe' },
        correlation_id: String(response.locals['request_id']),
        now: deps.clock.now().toISOString(),
      })
    response.json({ received: true })
  })
  return router.use(problems(deps.log))
}

const notSigned = new Problem(
  'forbidden',
  'The signature is missing, is not that of this organisation’s account, or is too old.',
)

type SigningAccount = SealedPaymentAccount & { readonly sealed_webhook_secret: string }

const signingAccounts = ({ paymentAccounts }: Deps, organisation_id: OrganisationId): readonly SigningAccount[] =>
  PaymentMode.options.flatMap((mode) => {
    const account = paymentAccountOf(paymentAccounts, organisation_id, mode)
    const sealed_webhook_secret = account?.sealed_webhook_secret ?? null
    return account && sealed_webhook_secret !== null ? [{ ...account, sealed_webhook_secret }] : []
  })

/** The account whose secret the delivery is signed with. */
const signingAccount = (
  { keys }: Deps,
  accounts: readonly SigningAccount[],
  body: Buffer,
  header: string,
): SigningAccount | undefined => {
  let closed: CannotUnseal | undefined
  for (const account of accounts) {
    const binding = paymentSecretBinding(account.organisation_id, account.id, 'webhook_secret')
    const opened = unsealOrFault(keys, account.sealed_webhook_secret, binding)
    if ('fault' in opened) closed = opened.fault
    else if (isSignedBy(opened.secret, body, header)) return account
  }
  // It may be signed by the one that cannot be opened: it is to be sent again, not given up.
  if (closed) throw closed
  return undefined
}

/** News of the other mode, or of another account connected to the same platform, is not ours. */
const isOf = ({ mode, stripe_account }: SealedPaymentAccount, event: ProviderEvent): boolean =>
  event.livemode === (mode === 'live') && (stripe_account === null || event.account === stripe_account)
