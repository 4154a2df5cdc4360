import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { Premium } from '#domain/premiums/record.ts'
import { OrganisationId } from '#domain/values.ts'
import { paymentIdOf } from '../../command-api/applications/card-routes.ts'
import type { StripeObject } from '../../stand-ins/stripe/objects.ts'
import type { StripeStandIn } from '../../stand-ins/stripe/stripe.ts'
import { RefusedRequest, type Caller } from './load.ts'
import { metadataOf } from './money-checks.ts'
import { buy, organisation_id, providerKey, type Sale, type Team } from './money-firm.ts'
import { pick, type Random } from './random.ts'

/** All that happens to the money of a firm at once: sales, time, what banks and payers do, and what the team does. */

export type MoneyWorld = {
  readonly caller: Caller
  readonly team: Team
  readonly stripe: StripeStandIn
  readonly random: Random
}

const day = 86_400
const patienceMs = 120_000
const because = { reason: 'The customer asked for it.' }

export const forward = async ({ team }: Pick<MoneyWorld, 'team'>, forward_seconds: number): Promise<void> => {
  await team('POST', 'clock', { forward_seconds })
}

const ListedPremium = Premium.extend({ policy_id: z.uuid() })
export type ListedPremium = z.infer<typeof ListedPremium>

export const premiumsOf = async (team: Team, policy_id: string): Promise<readonly ListedPremium[]> => {
  const listed = await team('GET', `premiums?organisation_id=${organisation_id}&policy_id=${policy_id}&limit=200`)
  return z.array(ListedPremium).parse(listed)
}

const some = <Item>(items: readonly Item[], random: Random): Item | undefined => {
  const [first, ...rest] = items
  return first === undefined ? undefined : pick([first, ...rest], random)
}

/** What somebody else than the service does at the provider. It may refuse, as the payment is another by now. */
const atProvider = async ({ stripe }: MoneyWorld, path: string, fields: Readonly<Record<string, string>> = {}) => {
  const headers = { authorization: `Bearer ${providerKey}` }
  const answer = await fetch(`${stripe.url}/${path}`, { method: 'POST', headers, body: new URLSearchParams(fields) })
  await answer.body?.cancel()
}

const statusOf = (object: StripeObject): string => `${object.object} ${String(object['status'])}`

/** A payer disputes a payment, the firm wins or loses, or gives something back in the provider's dashboard. */
const actAtProvider = async (world: MoneyWorld): Promise<void> => {
  const { stripe, random } = world
  const objects = stripe.objects()
  const open = some(
    objects.filter((each) => statusOf(each) === 'dispute needs_response'),
    random,
  )
  if (open && random() < 0.4)
    return atProvider(world, `stand-in/disputes/${open.id}/${random() < 0.5 ? 'win' : 'lose'}`)
  const charge = some(
    objects.filter((each) => statusOf(each) === 'charge succeeded' && each['captured'] === true),
    random,
  )
  const refund = some(
    objects.filter((each) => statusOf(each) === 'refund succeeded'),
    random,
  )
  if (refund && random() < 0.05) return atProvider(world, `stand-in/refunds/${refund.id}/fail`)
  if (!charge || charge['disputed'] === true) return
  const left = Number(charge['amount']) - Number(charge['amount_refunded'])
  if (left === 0) return
  const payment_intent = String(charge['payment_intent'])
  const chance = random()
  if (chance < 0.1)
    await atProvider(world, `stand-in/payment_intents/${payment_intent}/dispute`, {
      status: 'needs_response',
      amount: String(left),
    })
  else if (chance < 0.15)
    await atProvider(world, 'v1/refunds', {
      payment_intent,
      amount: String(chance < 0.12 ? left : Math.ceil(left / 3)),
    })
}

/** The pence of each premium that the team has asked to be given back, and was answered. */
type AskedRefunds = Map<string, number>

const GivenBack = z.object({ refund: z.object({ refund_pence: z.int() }) })

/** As the firm's server asks for, within the time for it. */
const coolOff = async (caller: Caller, policy_id: string): Promise<void> => {
  await caller.ask('POST', `/policies/${policy_id}/cancellation`, {}).catch((error: unknown) => {
    if (!(error instanceof RefusedRequest) || error.code !== 'invalid_transition') throw error
  })
}

const actAsTeam = async (
  { caller, team, random }: MoneyWorld,
  sales: readonly Sale[],
  refunds: AskedRefunds,
): Promise<void> => {
  const policy_id = some(sales, random)?.policy_id
  if (policy_id === undefined) return
  const address = `organisations/${organisation_id}/policies/${policy_id}`
  if (random() < 0.01) return coolOff(caller, policy_id)
  if (random() < 0.01) {
    await team('POST', `${address}/cancellation`, { reason: 'other', note: 'Told on the telephone.' })
    return
  }
  const premium = some(await premiumsOf(team, policy_id), random)
  if (!premium) return
  const { premium_id, status } = premium
  const left = premium.refunds.find(({ is_left }) => is_left)
  if (left) await team('POST', `${address}/premiums/${premium_id}/refunds/${left.refund_id}/retry`, because)
  else if (status === 'failed') await team('POST', `${address}/premiums/${premium_id}/retry`, because)
  else if (status === 'collected' && random() < 0.2) {
    const key = crypto.randomUUID()
    const howMuch = random() < 0.5 ? { all: true } : { refund_pence: 400 }
    const path = `${address}/premiums/${premium_id}/refund`
    const given = await team('POST', path, { ...howMuch, ...because }, { 'idempotency-key': key })
    if (given === undefined) return
    const { refund } = GivenBack.parse(given)
    refunds.set(premium_id, (refunds.get(premium_id) ?? 0) + refund.refund_pence)
  }
}

const isDebit = (object: StripeObject): boolean =>
  object.object === 'payment_intent' && metadataOf(object)['premium_id'] !== undefined

/** What was paid by card for nothing, and could not be given back, is tried again. */
export const giveBackUnsold = async ({ team, stripe }: MoneyWorld, sales: readonly Sale[]): Promise<void> => {
  for (const { application_id, isByCard, isGivenUp } of sales) {
    if (application_id === undefined || !isByCard || !isGivenUp) continue
    const intents = stripe.objects().filter((each) => metadataOf(each)['application_id'] === application_id)
    for (const { id } of intents.filter(({ object }) => object === 'payment_intent')) {
      const payment_id = paymentIdOf(OrganisationId.parse(organisation_id), id)
      const address = `organisations/${organisation_id}/applications/${application_id}/card_payments/${payment_id}`
      await team('POST', `${address}/settlement`, because)
    }
  }
}

/** Goes on until it is stopped. `sellUpTo` says how many have come to buy by then. */
export const startMoneyLoad = (world: MoneyWorld, clients: number) => {
  const { stripe, random } = world
  const sales: Sale[] = []
  const refunds: AskedRefunds = new Map()
  const faults: string[] = []
  let quota = 0
  let isStopping = false

  const repeat = async (act: () => Promise<void>, atMostMs: number) => {
    while (!isStopping) {
      await act().catch((error: unknown) => {
        faults.push(error instanceof Error ? error.message : String(error))
      })
      await pause(random() * atMostMs)
    }
  }
  const sell = async () => {
    if (sales.length >= quota) return
    const isByCard = sales.length % 2 === 0
    const unknown = { application_id: undefined, policy_id: undefined, isGivenUp: false }
    const sale: Sale = { key: `sale-${sales.length}`, isByCard, ...unknown }
    sales.push(sale)
    await buy({ ...world, provider: stripe.url }, sale)
  }
  const answerAsBanks = async () => {
    stripe.letBanks({ afterMs: random() * 1_000, ...(random() < 0.15 && { failure_code: 'insufficient_funds' }) })
  }
  /** Or for long enough: what does not happen is found by whoever looks for faults. */
  const until = async (isSo: () => boolean) => {
    const deadline = Date.now() + patienceMs
    while (!isSo() && Date.now() < deadline) await pause(5)
  }
  const working = Promise.all([
    ...Array.from({ length: clients }, () => repeat(sell, 500)),
    repeat(() => forward(world, Math.ceil(random() * 10 * day)), 1_500),
    repeat(answerAsBanks, 1_000),
    repeat(() => actAtProvider(world), 500),
    repeat(() => actAsTeam(world, sales, refunds), 500),
    repeat(() => giveBackUnsold(world, sales), 5_000),
  ])

  return {
    sales: sales as readonly Sale[],
    refunds: refunds as ReadonlyMap<string, number>,
    faults: faults as readonly string[],
    sellUpTo: (count: number): void => {
      quota = count
    },
    /** Resolves when so many have bought, or have given up. */
    sold: () =>
      until(() => sales.length >= quota && sales.every((each) => each.isGivenUp || each.policy_id !== undefined)),
    /** Resolves when one more debit is asked for, as far as the provider tells. */
    collecting: () => {
      const before = stripe.objects().filter(isDebit).length
      return until(() => stripe.objects().filter(isDebit).length > before)
    },
    /** From now on nobody asks for anything more, and the banks answer well. */
    stop: async (): Promise<void> => {
      isStopping = true
      await working
      stripe.letBanks({ afterMs: 1 })
    },
  }
}
export type MoneyLoad = ReturnType<typeof startMoneyLoad>
