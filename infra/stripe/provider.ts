import { createHash } from 'node:crypto'
import type Stripe from 'stripe'
import { canonicalJson } from '#domain/canonical-json.ts'
import type { BankAccount } from '#domain/bank-account.ts'
import type { GuardedHttp } from '../guarded-http.ts'
import { attempt, makeClients, type Outcome, type StripeAccount } from './client.ts'

export type { Outcome, StripeAccount } from './client.ts'

/** Kept with everything that is made at the provider, so that its news can be told apart. */
export type ProviderMetadata = Readonly<Record<string, string>>

export type Payer = {
  /** Our id of the person. */
  readonly customer_id: string
  readonly email: string | null
  readonly name: string
  readonly address: {
    readonly line1: string | null
    readonly line2: string | null
    readonly city: string | null
    readonly postal_code: string | null
    readonly country: string | null
  }
}

export type ProviderPayment = {
  readonly id: string
  readonly client_secret: string | null
  /** `open`: can still be paid; `processing`: under way; `cancelled`: will never be paid. */
  readonly status: 'open' | 'processing' | 'authorised' | 'succeeded' | 'cancelled'
  readonly amount_pence: number
  readonly refunded_pence: number
  readonly currency_code: string
  readonly metadata: ProviderMetadata
  readonly card: { readonly brand: string | null; readonly last4: string | null } | null
  /** ISO 8601, once it is paid. */
  readonly paid_at: string | null
  readonly failure_code: string | null
  readonly provider_customer_id: string | null
}

/** Newest first. */
export type PaymentStatement = ProviderPayment & {
  readonly refunds: readonly {
    readonly provider_refund_id: string
    /** Ours, where we have asked for it. */
    readonly refund_id: string | null
    readonly refund_pence: number
    readonly has_failed: boolean
    readonly failure_code: string | null
  }[]
  /** The disputes that take, or took, money. */
  readonly disputes: readonly {
    readonly provider_dispute_id: string
    readonly disputed_pence: number
    readonly status: 'open' | 'won' | 'lost'
  }[]
}

export type NetworkStatus = 'pending' | 'accepted' | 'refused' | 'revoked'

export type ProviderMandate = { readonly id: string; readonly network_status: NetworkStatus; readonly active: boolean }

export type MandateSession = {
  readonly id: string
  readonly client_secret: string | null
  readonly status: 'open' | 'complete' | 'expired'
  readonly metadata: ProviderMetadata
  readonly provider_customer_id: string | null
  /** Null until the form was completed. */
  readonly set_up: {
    readonly provider_payment_method_id: string
    readonly last4: string | null
    readonly mandate: ProviderMandate | null
  } | null
}

export type Collection = {
  readonly provider_customer_id: string
  readonly provider_payment_method_id: string
  readonly provider_mandate_id: string | null
  readonly amount_pence: number
  readonly currency_code: string
  readonly metadata: ProviderMetadata
}

const askedBySomebodyMs = 3_000

/** The same name for the same parameters, so that the provider never refuses a key because they differ. */
const keyWith = (name: string, parameters: unknown): string =>
  `${name}:${createHash('sha256').update(canonicalJson(parameters)).digest('hex').slice(0, 16)}`

/** Speaks to Stripe for one account. Whoever moves money names the idempotency key, which follows from what is paid. */
export const makeStripe = (http: Pick<GuardedHttp, 'request'>, timeoutMs = askedBySomebodyMs) => {
  const clientOf = makeClients(http, timeoutMs)

  return (account: StripeAccount) => {
    const stripe = clientOf(account)
    const ask = <Value>(call: () => Promise<Value>): Promise<Outcome<Value>> => attempt(timeoutMs, call)

    return {
      createCustomer: ({ customer_id, email, name, address }: Payer) => {
        const parameters = {
          name,
          ...(email !== null && { email }),
          address: withoutNulls(address),
          metadata: { customer_id },
        }
        return ask(async () => {
          const idempotencyKey = keyWith(`cust:${customer_id}`, parameters)
          return (await stripe.customers.create(parameters, { idempotencyKey })).id
        })
      },

      /** The provider's own form for a Direct Debit. `name` is that of the idempotency key. */
      openMandateSession: (name: string, given: { provider_customer_id: string; metadata: ProviderMetadata }) => {
        const metadata = { ...given.metadata }
        const parameters: Stripe.Checkout.SessionCreateParams = {
          mode: 'setup',
          ui_mode: 'embedded_page',
          customer: given.provider_customer_id,
          currency: 'gbp',
          allowed_payment_method_types: ['bacs_debit'],
          // A Direct Debit needs no redirect, and which page the form stands on is not known here.
          redirect_on_completion: 'never',
          metadata,
          setup_intent_data: { metadata },
        }
        return ask(async () => {
          const idempotencyKey = keyWith(name, parameters)
          return mandateSession(await stripe.checkout.sessions.create(parameters, { idempotencyKey }))
        })
      },

      readMandateSession: (id: string) =>
        ask(async () => {
          const expand = ['setup_intent.payment_method', 'setup_intent.mandate']
          return mandateSession(await stripe.checkout.sessions.retrieve(id, { expand }))
        }),

      /** A mandate made from bank details that the customer gave us, who has agreed to it with us. */
      setUpMandate: (
        name: string,
        given: {
          readonly provider_customer_id: string
          readonly bank_details: BankAccount & { readonly account_holder_name: string }
          readonly payer: Pick<Payer, 'email' | 'address'>
          readonly metadata: ProviderMetadata
        },
      ) => {
        const { account_holder_name, sort_code, account_number } = given.bank_details
        const { email, address } = given.payer
        const parameters: Stripe.SetupIntentCreateParams = {
          customer: given.provider_customer_id,
          confirm: true,
          usage: 'off_session',
          allowed_payment_method_types: ['bacs_debit'],
          payment_method_data: {
            type: 'bacs_debit',
            bacs_debit: { sort_code, account_number },
            billing_details: {
              name: account_holder_name,
              ...(email !== null && { email }),
              address: withoutNulls(address),
            },
          },
          mandate_data: { customer_acceptance: { type: 'offline', offline: {} } },
          metadata: { ...given.metadata },
          expand: ['payment_method', 'mandate'],
        }
        return ask(async () => {
          const idempotencyKey = keyWith(name, parameters)
          return setUp(await stripe.setupIntents.create(parameters, { idempotencyKey }))
        })
      },

      readMandate: (id: string) => ask(async () => mandate(await stripe.mandates.retrieve(id))),

      openPayment: (
        name: string,
        given: {
          readonly provider_customer_id: string
          readonly amount_pence: number
          readonly currency_code: string
          readonly capture: 'automatic' | 'manual'
          readonly metadata: ProviderMetadata
        },
      ) => {
        const parameters: Stripe.PaymentIntentCreateParams = {
          amount: given.amount_pence,
          currency: given.currency_code.toLowerCase(),
          customer: given.provider_customer_id,
          allowed_payment_method_types: ['card'],
          capture_method: given.capture,
          metadata: { ...given.metadata },
        }
        return ask(async () => {
          const idempotencyKey = keyWith(name, parameters)
          return payment(await stripe.paymentIntents.create(parameters, { idempotencyKey }))
        })
      },

      readPayment: (id: string) =>
        ask(async () => payment(await stripe.paymentIntents.retrieve(id, { expand: ['latest_charge'] }))),

      capture: (id: string, idempotencyKey: string) =>
        ask(async () => payment(await stripe.paymentIntents.capture(id, {}, { idempotencyKey }))),

      /** Lets an authorisation go, or closes what was not paid. */
      cancel: (id: string, idempotencyKey: string) =>
        ask(async () => payment(await stripe.paymentIntents.cancel(id, {}, { idempotencyKey }))),

      refund: async (
        id: string,
        amount_pence: number,
        idempotencyKey: string,
        metadata: ProviderMetadata = {},
      ): Promise<Outcome<{ readonly refund_id: string }>> => {
        const asked = await ask(async () =>
          stripe.refunds.create(
            { payment_intent: id, amount: amount_pence, metadata: { ...metadata } },
            { idempotencyKey },
          ),
        )
        if (asked.outcome !== 'done') return asked
        const { id: refund_id, failure_reason } = asked.value
        if (!hasFailed(asked.value)) return { outcome: 'done', value: { refund_id } }
        const message = 'The payment provider could not give this back.'
        return { outcome: 'refused', code: wordOf(failure_reason) ?? 'refund_failed', message }
      },

      /** The sum refunded of a payment, by whomever: a refund that has failed later counts no more. */
      refundedPence: (id: string) =>
        ask(async () => {
          const { data } = await stripe.refunds.list({ payment_intent: id, limit: 100 })
          return data.filter((refund) => !hasFailed(refund)).reduce((sum, { amount }) => sum + amount, 0)
        }),

      /** A payment with all its refunds and disputes, as of now. */
      readStatement: (id: string): Promise<Outcome<PaymentStatement>> =>
        ask(async () => {
          const intent = await stripe.paymentIntents.retrieve(id, { expand: ['latest_charge'] })
          const list = { payment_intent: id, limit: 100 }
          // In this order: what is read later may hold more, which the next look finds.
          const disputes = await stripe.disputes.list(list)
          const refunds = await stripe.refunds.list(list)
          return {
            ...payment(intent),
            refunds: refunds.data.map(refundStated),
            disputes: disputes.data.flatMap(disputesStated),
          }
        }),

      /** True where a dispute has taken the payment back: an inquiry takes nothing, and one that was won has given it back. */
      isTakenBack: (dispute_id: string) =>
        ask(async () => {
          const { status } = await stripe.disputes.retrieve(dispute_id)
          return !/^(won|prevented|warning_\w+)$/.test(status)
        }),

      /** The payment collected with this metadata, of the last hundred payments of a customer. */
      findCollection: (provider_customer_id: string, metadata: ProviderMetadata) =>
        ask(async () => {
          const { data } = await stripe.paymentIntents.list({ customer: provider_customer_id, limit: 100 })
          const names = Object.keys(metadata)
          const found = data.find((intent) => names.every((name) => intent.metadata[name] === metadata[name]))
          return found ? payment(found) : null
        }),

      /** Takes money by Direct Debit. The answer is mostly `processing`: what became of it comes as news, days later. */
      collect: (given: Collection, idempotencyKey: string) =>
        ask(async () => {
          const { provider_mandate_id, amount_pence, currency_code, metadata } = given
          const intent = await stripe.paymentIntents.create(
            {
              amount: amount_pence,
              currency: currency_code.toLowerCase(),
              customer: given.provider_customer_id,
              payment_method: given.provider_payment_method_id,
              ...(provider_mandate_id !== null && { mandate: provider_mandate_id }),
              allowed_payment_method_types: ['bacs_debit'],
              off_session: true,
              confirm: true,
              metadata: { ...metadata },
            },
            { idempotencyKey },
          )
          return payment(intent)
        }),
    }
  }
}
export type Provider = ReturnType<ReturnType<typeof makeStripe>>

const refundStated = (refund: Stripe.Refund): PaymentStatement['refunds'][number] => ({
  provider_refund_id: refund.id,
  refund_id: refund.metadata?.['refund_id'] ?? null,
  refund_pence: refund.amount,
  has_failed: hasFailed(refund),
  failure_code: hasFailed(refund) ? (wordOf(refund.failure_reason) ?? 'refund_failed') : null,
})

const disputesStated = ({ id, amount, status }: Stripe.Dispute): PaymentStatement['disputes'] => {
  if (/^(prevented|warning_\w+)$/.test(status)) return []
  const stated = { provider_dispute_id: id, disputed_pence: amount }
  return [{ ...stated, status: status === 'won' ? 'won' : status === 'lost' ? 'lost' : 'open' }]
}

const hasFailed = ({ status }: Stripe.Refund): boolean => status === 'failed' || status === 'canceled'

const withoutNulls = (address: Payer['address']): Record<string, string> =>
  Object.fromEntries(
    Object.entries(address).flatMap(([name, value]) => (value === null ? [] : [[name, value] as const])),
  )

const idOf = (reference: string | { readonly id: string } | null | undefined): string | null =>
  typeof reference === 'string' ? reference : (reference?.id ?? null)

/** A word in another than its usual form is not kept. */
const wordOf = (word: string | null | undefined): string | null =>
  /^[a-z0-9_]{1,100}$/.test(word ?? '') ? (word ?? null) : null
const last4Of = (last4: string | null | undefined): string | null =>
  /^\d{4}$/.test(last4 ?? '') ? (last4 ?? null) : null

const networkStatuses: readonly string[] = ['pending', 'accepted', 'refused', 'revoked']
const isNetworkStatus = (status: string): status is NetworkStatus => networkStatuses.includes(status)

export const mandate = ({ id, status, payment_method_details }: Stripe.Mandate): ProviderMandate => {
  const network_status = payment_method_details.bacs_debit?.network_status ?? 'pending'
  return {
    id,
    network_status: isNetworkStatus(network_status) ? network_status : 'pending',
    active: status !== 'inactive',
  }
}

const mandateSession = (session: Stripe.Checkout.Session): MandateSession => ({
  id: session.id,
  client_secret: session.client_secret,
  status: session.status === 'complete' ? 'complete' : session.status === 'expired' ? 'expired' : 'open',
  metadata: session.metadata ?? {},
  provider_customer_id: idOf(session.customer),
  set_up: session.status === 'complete' ? setUp(session.setup_intent) : null,
})

/** Only what was read together with the session tells whether a mandate was set up. */
const setUp = (intent: Stripe.Checkout.Session['setup_intent']): MandateSession['set_up'] => {
  if (intent === null || typeof intent === 'string' || intent.status !== 'succeeded') return null
  const { payment_method: method } = intent
  if (method === null || typeof method === 'string' || method.type !== 'bacs_debit') return null
  return {
    provider_payment_method_id: method.id,
    last4: last4Of(method.bacs_debit?.last4),
    mandate: intent.mandate === null || typeof intent.mandate === 'string' ? null : mandate(intent.mandate),
  }
}

export const payment = (intent: Stripe.PaymentIntent): ProviderPayment => {
  const { id, client_secret, amount, currency, metadata, latest_charge, last_payment_error, created } = intent
  const charge = latest_charge === null || typeof latest_charge === 'string' ? null : latest_charge
  const card = charge?.payment_method_details?.card
  const status = statusOf(intent.status)
  const isPaid = status === 'succeeded' || status === 'authorised'
  return {
    id,
    client_secret,
    status,
    amount_pence: amount,
    refunded_pence: charge?.amount_refunded ?? 0,
    currency_code: currency.toUpperCase(),
    metadata,
    card: card ? { brand: wordOf(card.brand), last4: last4Of(card.last4) } : null,
    paid_at: isPaid ? new Date((charge?.created ?? created) * 1000).toISOString() : null,
    failure_code: wordOf(last_payment_error?.decline_code ?? last_payment_error?.code),
    provider_customer_id: idOf(intent.customer),
  }
}

const statusOf = (status: string): ProviderPayment['status'] => {
  switch (status) {
    case 'succeeded':
      return 'succeeded'
    case 'requires_capture':
      return 'authorised'
    case 'processing':
      return 'processing'
    case 'canceled':
      return 'cancelled'
    default:
      return 'open'
  }
}
