import { stringify } from 'yaml'
import { z } from 'zod'
import { derivedId } from '#infra/ids.ts'
import { testAccounts, testSortCode } from '#infra/stripe/test-accounts.ts'
import { RefusedRequest, type Caller, type Patient } from './load.ts'
import type { Asked } from './outcome-checks.ts'
import { pick, type Random } from './random.ts'

/** A firm that collects premiums by card and by Direct Debit, and those who buy of it. */

export const slug = 'collects'
export const organisation_id = derivedId('organisation', slug)
export const premiumPence = 2_875
export const providerKey = 'sk_test_collects'
export const providerSecret = 'whsec_of_the_firm'
export const receiverSecret = 'the secret of the firm'
export const server = { client_id: derivedId('api_application', slug), client_secret: 'the secret of its server' }

/** What the firm is told of, each by one action. */
export const asked: Asked = {
  PolicyBound: { type: 'policy.bound', actions: 1 },
  PremiumCollected: { type: 'premium.collected', actions: 1 },
  PremiumRefunded: { type: 'premium.refunded', actions: 1 },
}

const product = (of: 'by-card' | 'by-debit') => ({
  slug: of,
  name: of,
  product_type: 'child_cover',
  lifecycle_state: 'production',
  checkout: { direct_debit_first: of === 'by-debit' },
  covers: [
    {
      cover_type: 'child_benefit',
      pricing_basis: 'fixed_tiers',
      age_at_entry_min: 18,
      age_at_entry_max: 70,
      tiers: [{ cover_amount_pence: 2_500_000, premium_pence: premiumPence }],
    },
  ],
  journeys: [{ slug: 'standard', name: 'Standard' }],
})

export type Outside = { readonly provider: string; readonly receiver: string }

export const firmFile = ({ provider, receiver }: Outside, capture: 'automatic' | 'manual'): string =>
  stringify({
    organisations: [
      {
        slug,
        name: 'A firm that collects premiums',
        stripe_test_mode: true,
        api_applications: [{ name: 'Server', ...server, scopes: ['read', 'write'] }],
        payment_accounts: [
          { mode: 'test', base_url: provider, secret_key: providerKey, webhook_secret: providerSecret, capture },
        ],
        endpoint_connections: [{ name: 'firm', base_url: receiver, signing_secret: receiverSecret }],
        lifecycle_actions: [
          {
            name: 'Tell the firm',
            endpoint_connection: 'firm',
            event_types: Object.values(asked).map(({ type }) => type),
          },
        ],
        products: [product('by-card'), product('by-debit')],
      },
    ],
  })

/** Of an application: what its customer knows of it. */
export type Sale = {
  readonly key: string
  readonly isByCard: boolean
  application_id: string | undefined
  policy_id: string | undefined
  /** It is not bought, although a card may have paid for it. */
  isGivenUp: boolean
}

const Id = z.object({ id: z.uuid() })
const Opened = z.object({ payment_intent: z.object({ id: z.string() }) })

type World = { readonly caller: Caller; readonly provider: string; readonly random: Random }

/** What the banks do with a debit of these accounts. */
const accounts = [
  testAccounts.insufficientFunds,
  testAccounts.disputed,
  ...Array.from({ length: 8 }, () => testAccounts.succeeds),
] as const
const cards = ['pm_card_pendingRefund', ...Array.from({ length: 8 }, () => 'pm_card_visa')] as const

/** Buys a policy, or pays for one by card and does not come back. */
export const buy = async (world: World, sale: Sale): Promise<void> => {
  const { caller, random } = world
  const id = await apply(caller, sale)
  sale.application_id = id
  const { id: quote } = await caller.send('POST', `/applications/${id}/quotes`)
  try {
    await caller.ask('POST', `/applications/${id}/accept_quote`, { quote_id: quote })
    await caller.ask('POST', `/quotes/${quote}/confirm`)
    if (sale.isByCard) await payByCard(world, quote)
    if (sale.isByCard && random() < 0.15) {
      sale.isGivenUp = true
      return
    }
    const account_number = sale.isByCard ? testAccounts.succeeds : pick(accounts, random)
    const direct_debit = { account_holder_name: 'Anna Ash', sort_code: testSortCode, account_number }
    await caller.ask('POST', `/quotes/${quote}/direct_debit_details`, { direct_debit })
    sale.policy_id = Id.parse(await caller.ask('POST', `/quotes/${quote}/bind`)).id
  } catch (error) {
    if (!(error instanceof RefusedRequest) || !undone.includes(error.code)) throw error
    sale.isGivenUp = true
  }
}

/** Days have passed meanwhile, or what was paid by card was taken back. */
const undone: readonly string[] = [
  'quote_expired',
  'quote_not_bindable',
  'accept_failed',
  'first_payment_missing',
  // What was paid and not bought for days is given back.
  'payment_failed',
]

const apply = async (caller: Caller, { key, isByCard }: Sale): Promise<string> => {
  const started = { product_slug: isByCard ? 'by-card' : 'by-debit', journey_slug: 'standard' }
  const { id } = await caller.send('POST', '/applications', started, { 'idempotency-key': key })
  await caller.ask('PATCH', `/applications/${id}`, { cover_amount_pence: 2_500_000 })
  const customer = {
    first_name: 'Anna',
    last_name: 'Ash',
    email: `${key}@example.com`,
    dob: '1990-03-10',
    address_line1: '1 High Street',
    city: 'London',
    postal_code: 'SW1A 1AA',
  }
  await caller.ask('PATCH', `/applications/${id}/customer`, { customer })
  return id
}

const payByCard = async ({ caller, provider, random }: World, quote: string): Promise<void> => {
  const opened = Opened.parse(await caller.ask('POST', `/quotes/${quote}/payment_intent`))
  const { id: payment_intent_id } = opened.payment_intent
  const body = new URLSearchParams({ payment_method: pick(cards, random) })
  await fetch(`${provider}/stand-in/payment_intents/${payment_intent_id}/confirm`, { method: 'POST', body })
  await caller.ask('POST', `/quotes/${quote}/card_payment`, { payment_intent_id })
}

const Answered = z.object({ data: z.unknown() })

/** What the firm's team asks for. Undefined: it is refused, as the state is another by now. */
export const makeTeam =
  ({ answerTo }: Patient, operatorKey: string) =>
  async (method: string, path: string, body?: object, headers: Readonly<Record<string, string>> = {}) => {
    const response = await answerTo(`/admin/v1/${path}`, {
      method,
      headers: { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/json', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (response.status === 409) return undefined
    if (!response.ok) throw new RefusedRequest(`${method} ${path}`, response.status, text)
    return Answered.parse(JSON.parse(text)).data
  }
export type Team = ReturnType<typeof makeTeam>
