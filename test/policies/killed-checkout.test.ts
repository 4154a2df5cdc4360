import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fromStored } from '#domain/event.ts'
import { policy } from '#domain/policies/policy.ts'
import { quoteEvents } from '#domain/quotes/events.ts'
import type { ApplicationId } from '#domain/values.ts'
import { readProviderEvent } from '#infra/stripe/provider-events.ts'
import { makeLog } from '#infra/log.ts'
import { paymentIdOf } from '../../command-api/applications/card-routes.ts'
import { expireQuotes } from '../../command-api/applications/expire-quotes.ts'
import { settleCardPayments } from '../../command-api/payments/settle-card-payments.ts'
import { whenQuoteBoughtSetUpPolicy } from '../../command-api/policies/when-quote-bought-set-up-policy.ts'
import { commandHandler } from '../../command-api/writing/handle.ts'
import { makePaymentNews } from '../../command-api/payment-news/receive.ts'
import { eventOf } from '../../stand-ins/stripe/webhooks.ts'
import { organisation_id } from '../applications/release.ts'
import type { Kill } from '../killed-process.ts'
import { makeSettle } from '../payments/settle.ts'
import { openSales, quotedAt, type Sales } from './fixture.ts'
import { england } from './calendars.ts'

const log = makeLog('silent', 'test')

/** Every call on the way from a price to a policy, made by a process that is killed at each of its writes. */

let sales: Sales
beforeAll(async () => {
  sales = await openSales()
})
afterAll(async () => sales[Symbol.asyncDispose]())

type Process = Pick<Sales, 'post'>
type Data = Readonly<Record<string, unknown>>

/** What the customer's page knows at a time. */
type Purchase = { readonly application_id: ApplicationId; quote_id: string; session_id: string; intent: string }

type Call = {
  readonly name: string
  /** How many writes it makes, to the log and at the payment provider. */
  readonly writes: number
  readonly send: (process: Process, purchase: Purchase) => ReturnType<Sales['post']>
  /** What the page and the cardholder do with the answer. */
  readonly then?: (data: Data, purchase: Purchase) => Promise<void> | void
}

const act = async (path: string, fields: Record<string, string>) => {
  await fetch(`${sales.stripe.url}/stand-in/${path}`, { method: 'POST', body: new URLSearchParams(fields) })
}
const onQuote =
  (operation: string, body?: object) =>
  (process: Process, { quote_id }: Purchase) =>
    process.post(`/api/v1/quotes/${quote_id}/${operation}`, body)
const onApplication =
  (operation: string, body?: object) =>
  (process: Process, { application_id }: Purchase) =>
    process.post(`/api/v1/applications/${application_id}/${operation}`, body)

const priced: readonly Call[] = [
  {
    name: 'quotes',
    writes: 1,
    send: onApplication('quotes', {}),
    then: ({ id }, purchase) => {
      purchase.quote_id = String(id)
      sales.owns(purchase.application_id, purchase.quote_id)
    },
  },
  { name: 'accept_quote', writes: 1, send: onApplication('accept_quote', {}) },
  { name: 'confirm', writes: 1, send: onQuote('confirm') },
]
const direct_debit = { account_holder_name: 'Anna Ash', sort_code: '08-99-99', account_number: '66374958' }
const details: Call = {
  name: 'direct_debit_details',
  writes: 1,
  send: onQuote('direct_debit_details', { direct_debit }),
}
const form: readonly Call[] = [
  {
    name: 'bacs_setup_intent',
    // The provider's customer, its session, and ours.
    writes: 3,
    send: onQuote('bacs_setup_intent'),
    then: async ({ session }, purchase) => {
      purchase.session_id = (session as { id: string }).id
      await act(`checkout/sessions/${purchase.session_id}/complete`, {
        sort_code: '108800',
        account_number: '00012345',
      })
    },
  },
  {
    name: 'bacs_mandate',
    writes: 1,
    send: (process, purchase) => onQuote('bacs_mandate', { session_id: purchase.session_id })(process, purchase),
  },
]
const card: readonly Call[] = [
  {
    name: 'payment_intent',
    // The provider's customer, its payment, and ours.
    writes: 3,
    send: onQuote('payment_intent'),
    then: async ({ payment_intent }, purchase) => {
      purchase.intent = (payment_intent as { id: string }).id
      await act(`payment_intents/${purchase.intent}/confirm`, { payment_method: 'pm_card_visa' })
    },
  },
  {
    name: 'card_payment',
    writes: 1,
    send: (process, purchase) => onQuote('card_payment', { payment_intent_id: purchase.intent })(process, purchase),
  },
]
/** The policy number, the sale, the policy. */
const bind = (writes = 3): Call => ({ name: 'bind', writes, send: onQuote('bind', {}) })

const ways = [
  { way: 'bank details', direct_debit_first: true, capture: 'manual', calls: [...priced, details, bind()] },
  { way: 'the provider’s form', direct_debit_first: true, capture: 'manual', calls: [...priced, ...form, bind()] },
  {
    way: 'a card charged at once',
    direct_debit_first: false,
    capture: 'automatic',
    calls: [...priced, details, ...card, bind()],
  },
  {
    way: 'a card charged when the policy is set up',
    direct_debit_first: false,
    capture: 'manual',
    // The charge at the provider, and ours.
    calls: [...priced, details, ...card, bind(5)],
  },
] as const
type Way = (typeof ways)[number]

const make = async ({ send, then }: Call, purchase: Purchase, process: Process = sales) => {
  const { status, body } = await send(process, purchase)
  if (status !== 200 && status !== 201) return status
  await then?.((body as { data: Data }).data, purchase)
  return status
}
const open = async ({ direct_debit_first, capture }: Way): Promise<Purchase> => {
  sales.chargeCards(capture)
  return { application_id: await sales.filled({ direct_debit_first }), quote_id: '', session_id: '', intent: '' }
}
const dies = async (call: Call, purchase: Purchase, kill: Kill) => {
  await using dying = await sales.startProcess(kill)
  const status = await make(call, purchase, dying)
  return status
}
const killsOf = ({ writes }: Call): readonly Kill[] =>
  Array.from({ length: writes }, (_, index) => index + 1).flatMap((atWrite) => [
    { atWrite, when: 'before' } as const,
    { atWrite, when: 'after' } as const,
  ])

/** What there is of a purchase: what happened here, and what was made at the provider. */
const traceOf = async ({ application_id, quote_id, intent }: Purchase) => ({
  events: await sales.typesOf(`application-${application_id}`),
  policy: quote_id === '' ? [] : await sales.typesOf(`policy-${sales.policyIdOf(quote_id)}`),
  payment: intent === '' ? [] : await sales.typesOf(`payment-${paymentIdOf(organisation_id, intent)}`),
  atProvider: sales.stripe
    .objects()
    .filter(({ metadata }) => (metadata as Data | undefined)?.['application_id'] === application_id)
    .map(({ object, status }) => `${object} ${String(status)}`)
    .toSorted(),
})

describe.each(ways)('paid by $way', (way) => {
  test.each(way.calls.map((call, index) => ({ name: call.name, call, before: way.calls.slice(0, index) })))(
    'wherever $name is killed, the same call completes, and leaves what it leaves undisturbed',
    async ({ call, before }) => {
      const purchaseBefore = async () => {
        const purchase = await open(way)
        for (const each of before) expect([200, 201]).toContain(await make(each, purchase))
        return purchase
      }
      const undisturbed = await purchaseBefore()
      await make(call, undisturbed)
      const expected = await traceOf(undisturbed)
      // It makes no more writes than it is killed at.
      const survivor = await purchaseBefore()
      expect(await dies(call, survivor, { atWrite: call.writes + 1, when: 'before' })).toBeLessThan(300)

      for (const kill of killsOf(call)) {
        const purchase = await purchaseBefore()
        expect(await dies(call, purchase, kill)).toBe(500)
        expect([200, 201]).toContain(await make(call, purchase))
        expect({ kill, ...(await traceOf(purchase)) }).toEqual({ kill, ...expected })
      }
    },
  )
})

describe('a kill between paying and binding ends in a policy or in a refund, never in neither', () => {
  /** Nobody comes back: only what runs by itself goes on, for a long time. */
  const leaveAlone = async ({ application_id }: Purchase) => {
    const { writer, pool, merchants, setUp, log } = sales
    const eventsOf = async (id: ApplicationId) => log.read(`application-${id}`)
    const timers = [expireQuotes(writer), ...settleCardPayments({ writer, merchants, calendar: england })]
    const reaction = whenQuoteBoughtSetUpPolicy(setUp)
    for (const recorded of await eventsOf(application_id)) {
      if (recorded.type !== 'QuoteBought') continue
      const { organisation_id, correlation_id } = recorded.metadata
      const actor = { type: 'system', id: null } as const
      const event = fromStored({ QuoteBought: quoteEvents.QuoteBought }, recorded)
      await reaction.react(event, recorded, { organisation_id, actor, correlation_id, now: quotedAt })
    }
    await makeSettle({ writer, pool, timers, eventsOf })(application_id, '2100-01-01T00:00:00.000Z')
  }
  const sold = ['PolicyBound', 'PremiumDue', 'PremiumCollected']
  /** What the firm has of the customer's money. */
  const heldOf = ({ intent }: Purchase): number => {
    const objects = sales.stripe.objects()
    const paid = objects.find(({ id }) => id === intent)
    const refunded = objects
      .filter(({ object, payment_intent }) => object === 'refund' && payment_intent === intent)
      .reduce((sum, { amount }) => sum + Number(amount), 0)
    if (paid?.['status'] === 'requires_capture') throw new Error('The card is neither charged nor released.')
    return paid?.['status'] === 'succeeded' ? Number(paid['amount']) - refunded : 0
  }
  const cases = ways
    .filter(({ direct_debit_first }) => !direct_debit_first)
    .flatMap((way) => way.calls.slice(-2).map((call, index) => ({ ...way, way, call, name: call.name, index })))

  test.each(cases)('$name', async ({ way, call, index }) => {
    for (const kill of killsOf(call)) {
      const purchase = await open(way)
      for (const each of way.calls.slice(0, index - 2)) await make(each, purchase)
      expect(await dies(call, purchase, kill)).toBe(500)

      await leaveAlone(purchase)

      const { events, policy } = await traceOf(purchase)
      const isSold = events.includes('ApplicationBound')
      const last = events.findLast((type) => type.startsWith('CardPayment'))
      expect({ kill, policy, last, isPaid: heldOf(purchase) > 0 }).toEqual({
        kill,
        policy: isSold ? sold : [],
        last: isSold ? 'CardPaymentUsed' : 'CardPaymentReturned',
        isPaid: isSold,
      })
    }
  })
})

describe('news of the payment provider, told again after a kill, completes', () => {
  const charged = ways.find(({ way }) => way === 'a card charged at once') ?? expect.fail()
  const sold = charged.calls
  const paid = sold.slice(0, -1)
  const actor = { type: 'system', id: 'stripe' } as const
  const context = { organisation_id, actor, correlation_id: 'test', now: quotedAt }
  const objectOf = (kind: string, { intent }: Purchase) =>
    sales.stripe
      .objects()
      .findLast((each) =>
        kind === 'payment_intent' ? each.id === intent : each.object === kind && each['payment_intent'] === intent,
      ) ?? expect.fail(`There is no ${kind}.`)
  const newsOf = (type: string, kind: string, purchase: Purchase) => {
    const news = readProviderEvent(Buffer.from(JSON.stringify(eventOf(type, objectOf(kind, purchase)))))
    return news === 'other' ? expect.fail('It cannot be read.') : news
  }
  const tell = async (
    { writer, merchants, setUp }: Pick<Sales, 'writer' | 'merchants' | 'setUp'>,
    news: ReturnType<typeof newsOf>,
  ) =>
    makePaymentNews({ calendar: england, writer, merchants, setUp, log, mandateOwner: async () => undefined })(
      organisation_id,
      news,
      context,
    )
  const disputed = async (purchase: Purchase) => act(`payment_intents/${purchase.intent}/dispute`, {})
  const won = async (purchase: Purchase) => {
    await disputed(purchase)
    await tell(sales, newsOf('charge.dispute.created', 'dispute', purchase))
    await act(`payment_intents/${purchase.intent}/dispute/win`, {})
  }
  const wonOfCancelled = async (purchase: Purchase) => {
    const policy_id = sales.policyIdOf(purchase.quote_id)
    const cancel = { type: 'CancelPolicy', reason: 'cooling_off', note: null, today: quotedAt.slice(0, 10) } as const
    await commandHandler(sales.writer, policy).handle(policy_id, cancel, context)
    await won(purchase)
  }

  // Each with what it records of the payment and of what it pays for, and that it was received.
  test.each([
    {
      name: 'that a card was charged',
      calls: paid.slice(0, -1),
      type: 'payment_intent.succeeded',
      kind: 'payment_intent',
      writes: 3,
    },
    { name: 'of a dispute before the sale', calls: paid, happens: disputed, type: 'charge.dispute.created', writes: 3 },
    {
      name: 'of a dispute won before the sale',
      calls: paid,
      happens: won,
      type: 'charge.dispute.funds_reinstated',
      writes: 4,
    },
    {
      name: 'of a dispute of what was sold',
      calls: sold,
      happens: disputed,
      type: 'charge.dispute.created',
      writes: 3,
    },
    {
      name: 'of a dispute won of what was sold',
      calls: sold,
      happens: won,
      type: 'charge.dispute.funds_reinstated',
      writes: 3,
    },
    {
      name: 'of a dispute won of what was cancelled',
      calls: sold,
      happens: wonOfCancelled,
      type: 'charge.dispute.funds_reinstated',
      writes: 3,
    },
  ])('$name', async ({ calls, happens, type, kind = 'dispute', writes }) => {
    const purchaseBefore = async () => {
      const purchase = await open(charged)
      for (const each of calls) expect([200, 201]).toContain(await make(each, purchase))
      await happens?.(purchase)
      return { purchase, news: newsOf(type, kind, purchase) }
    }
    const undisturbed = await purchaseBefore()
    await tell(sales, undisturbed.news)
    const expected = await traceOf(undisturbed.purchase)
    {
      const { news } = await purchaseBefore()
      await using survivor = await sales.startProcess({ atWrite: writes + 1, when: 'before' })
      await tell(survivor, news)
    }

    for (const kill of killsOf({ name: '', writes, send: async () => expect.fail() })) {
      const { purchase, news } = await purchaseBefore()
      await using dying = await sales.startProcess(kill)
      await expect(tell(dying, news)).rejects.toThrow('killed')
      for (let time = 0; time < 2; time++) await tell(sales, news)
      expect({ kill, ...(await traceOf(purchase)) }).toEqual({ kill, ...expected })
    }
  })
})
