import { LRUCache } from 'lru-cache'
import type Stripe from 'stripe'
import { requireLease } from '../consumers/required-lease.ts'
import type { GuardedHttp } from '../guarded-http.ts'
import { withTimeout } from '../timeout.ts'
import { stripe } from './library.ts'

/** An organisation's access to Stripe. */
export type StripeAccount = {
  /** `https://api.stripe.com`, or a stand-in. */
  readonly base_url: string
  readonly secret_key: string
  /** With the key of a platform, the connected account that it acts for. */
  readonly stripe_account: string | null
}

/** The outcome of a call to the payment provider. That it refuses or does not answer is no exception to us. */
export type Outcome<Value> =
  | { readonly outcome: 'done'; readonly value: Value }
  /** It will not do it, and would not do it if asked again. `code` is one of its words, for machines. */
  | { readonly outcome: 'refused'; readonly code: string; readonly message: string }
  /** Nobody knows whether it was done: ask again with the same idempotency key. */
  | { readonly outcome: 'unanswered'; readonly reason: string }

const clientsRemembered = 1_000

/** Clients by account: the organisations of one process share the connections. */
export const makeClients = (http: Pick<GuardedHttp, 'request'>, timeoutMs: number) => {
  const clients = new LRUCache<string, Stripe>({ max: clientsRemembered })
  const fetchGuarded = guardedFetch(http, timeoutMs)

  return (account: StripeAccount): Stripe => {
    const { base_url, secret_key, stripe_account } = account
    const key = JSON.stringify([base_url, secret_key, stripe_account])
    const known = clients.get(key)
    if (known) return known
    const { hostname, port, protocol } = new URL(base_url)
    const Library = stripe()
    const client = new Library(secret_key, {
      host: hostname,
      protocol: protocol === 'http:' ? 'http' : 'https',
      ...(port !== '' && { port }),
      ...(stripe_account !== null && { stripeAccount: stripe_account }),
      httpClient: Library.createFetchHttpClient(fetchGuarded),
      timeout: timeoutMs,
      maxNetworkRetries: 2,
      telemetry: false,
      appInfo: { name: 'Coverstream' },
    })
    clients.set(key, client)
    return client
  }
}

/** Lets the library ask as everything else asks that an organisation names. */
const guardedFetch =
  (http: Pick<GuardedHttp, 'request'>, timeoutMs: number) =>
  async (url: Parameters<typeof fetch>[0], { method, headers, body }: RequestInit = {}): Promise<Response> => {
    const exchange = await http.request({
      method: method === 'POST' || method === 'DELETE' ? method : 'GET',
      url: url instanceof Request ? url.url : String(url),
      headers: Object.fromEntries(new Headers(headers)),
      ...(typeof body === 'string' && { body }),
      timeoutMs,
    })
    if (exchange.outcome === 'unanswered') throw new Error(exchange.reason)
    if (exchange.outcome === 'refused') return notAllowed(exchange.reason)
    const { status, body: answered, headers: received = {} } = exchange
    return new Response(answered, { status, headers: received })
  }

/** To the library it is as if the key might not be used: that needs the operator, and asking again changes nothing. */
const notAllowed = (message: string): Response =>
  Response.json({ error: { type: 'invalid_request_error', message } }, { status: 403 })

const word = (code: string | undefined, byDefault: string): string =>
  code !== undefined && /^[a-z0-9_]{1,100}$/.test(code) ? code : byDefault

/** Calls the provider, with one deadline over all that its library tries. */
export const attempt = async <Value>(timeoutMs: number, call: () => Promise<Value>): Promise<Outcome<Value>> => {
  requireLease()
  try {
    return { outcome: 'done', value: await withTimeout(call(), timeoutMs) }
  } catch (error) {
    return refusalOf(error) ?? { outcome: 'unanswered', reason: error instanceof Error ? error.message : String(error) }
  }
}

/** Undefined when the provider has not decided: it may be asked again. */
const refusalOf = (error: unknown): Extract<Outcome<never>, { outcome: 'refused' }> | undefined => {
  const { errors } = stripe()
  if (error instanceof errors.StripeAuthenticationError || error instanceof errors.StripePermissionError) {
    const message = 'The account with the payment provider cannot be used. Tell the operator of the service.'
    return { outcome: 'refused', code: 'account_unusable', message }
  }
  if (error instanceof errors.StripeCardError) {
    const code = word(
      wordsOf(error).find((each) => each !== undefined),
      'card_error',
    )
    return { outcome: 'refused', code, message: shortened(error.message) }
  }
  // Somebody else is asking for the same at this moment.
  if (error instanceof errors.StripeIdempotencyError && error.statusCode === 409) return undefined
  if (error instanceof errors.StripeIdempotencyError)
    return { outcome: 'refused', code: 'idempotency_error', message: shortened(error.message) }
  if (error instanceof errors.StripeInvalidRequestError)
    return { outcome: 'refused', code: word(error.code, 'invalid_request'), message: shortened(error.message) }
  return undefined
}

/** The reason first; the library says that it is always there, which it is not. */
const wordsOf = ({
  decline_code,
  code,
}: InstanceType<typeof Stripe.errors.StripeError>): readonly (string | undefined)[] => [decline_code, code]

const shortened = (message: string): string => message.slice(0, 300)
