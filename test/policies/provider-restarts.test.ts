import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { OrganisationId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'
import { startStripe } from '../../stand-ins/stripe/stripe.ts'
import { wholeService } from '../whole-service.ts'
import { firmFile, paymentSecret } from '../policies/first-year-firm.ts'

const organisation_id = OrganisationId.parse(derivedId('organisation', 'acme'))
const patience = { timeout: 100_000, interval: 50 }
const day = 86_400

/** The firm of the first year, with a second product whose first premium is paid by card. */
const firmWith = (provider: string): string => {
  const file = firmFile('http://127.0.0.1:1', provider)
  const [, product = ''] = file.split('    products:\n')
  const byCard = product.replace('slug: term', 'slug: card-term')
  return `${file}${byCard.replace('journeys:', 'checkout: { direct_debit_first: false }\n        journeys:')}`
}

const startAll = async () => {
  const directory = await mkdtemp(join(tmpdir(), 'coverstream-provider-'))
  const service = await wholeService({ DELIVERY_ALLOWED_HOSTS: '127.0.0.1', DELIVERY_ALLOW_HTTP: 'true' })
  const url = `${service.origin}/api/v1/webhooks/stripe/${organisation_id}`
  const options = {
    file: join(directory, 'stripe.jsonl'),
    banks: { afterMs: 1 },
    endpoints: [{ url, secret: paymentSecret }],
  }
  let stripe = await startStripe(0, options)
  await service.setUp(firmWith(stripe.url))
  const { token } = await service.client(organisation_id, ['read', 'write'])
  return {
    service,
    stripe: () => stripe,
    restart: async () => {
      const { port } = new URL(stripe.url)
      await stripe.close()
      stripe = await startStripe(Number(port), options)
    },
    /** On a machine under load the payment provider may be taken to be away for a moment: the same is sent again. */
    api: async <Data>(method: string, path: string, body?: object) => {
      const ask = async () => service.send<Data>(method, `/api/v1/${path}`, { token, ...(body && { body }) })
      const answer = await vi.waitFor(async () => {
        const { status, body: told } = await ask()
        if (status === 503) throw new Error(JSON.stringify(told))
        return { status, told }
      }, patience)
      if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.told)}`)
      return answer.told.data
    },
    /** Another test's transaction may still hide what was set up. */
    isSellable: async (product_slug: string) => {
      const body = { product_slug, journey_slug: 'standard' }
      return (await service.send('POST', '/api/v1/applications', { token, body })).status === 201
    },
    forward: async (seconds: number) => service.send('POST', '/admin/v1/clock', { body: { forward_seconds: seconds } }),
    [Symbol.asyncDispose]: async () => {
      await service[Symbol.asyncDispose]()
      await stripe.close()
      await rm(directory, { recursive: true })
    },
  }
}
type All = Awaited<ReturnType<typeof startAll>>

const buy = async ({ api, stripe }: All, product_slug: string, email: string) => {
  const born = new Date(Date.now() - 40 * day * 1000)
  born.setUTCFullYear(born.getUTCFullYear() - 34)
  const address = { address_line1: '1 High Street', city: 'London', postal_code: 'SW1A 1AA' }
  const person = { first_name: 'Anna', last_name: 'Ash', email, dob: born.toISOString().slice(0, 10), ...address }
  const asked = { product_slug, journey_slug: 'standard', customer: person, answers: { smoker: false } }
  const { id } = await api<{ id: string }>('POST', 'applications', asked)
  await api('PATCH', `applications/${id}`, { cover_amount_pence: 20_000_000, term_years: 25 })
  const quote = (await api<{ id: string }>('POST', `applications/${id}/quotes`)).id
  if (product_slug === 'card-term') {
    const opened = await api<{ payment_intent: { id: string } }>('POST', `quotes/${quote}/payment_intent`)
    const payment_intent_id = opened.payment_intent.id
    const form = new URLSearchParams({ payment_method: 'pm_card_visa' })
    await fetch(`${stripe().url}/stand-in/payment_intents/${payment_intent_id}/confirm`, { method: 'POST', body: form })
    await api('POST', `quotes/${quote}/card_payment`, { payment_intent_id })
  }
  const direct_debit = { account_holder_name: 'Anna Ash', sort_code: '08-99-99', account_number: '66374958' }
  await api('POST', `quotes/${quote}/direct_debit_details`, { direct_debit })
  return (await api<{ id: string }>('POST', `quotes/${quote}/bind`)).id
}

test(
  'policies that were sold by card and by debit are paid for a year, although the payment provider’s stand-in restarts',
  { timeout: 240_000 },
  async () => {
    await using all = await startAll()
    const { service, api, forward, restart } = all
    await vi.waitUntil(async () => all.isSellable('card-term'), patience)
    const policies = [await buy(all, 'card-term', 'card@example.org'), await buy(all, 'term', 'debit@example.org')]

    const premiums = async (policy: string) => {
      const path = `/admin/v1/premiums?organisation_id=${organisation_id}&policy_id=${policy}&limit=200`
      return (await service.send<{ status: string }[]>('GET', path)).body.data.map(({ status }) => status)
    }
    let looks = 0
    for (const paid of [5, 11]) {
      await restart()
      await forward(180 * day)
      await vi.waitUntil(async () => {
        // What was not answered in time is asked again some minutes later, of business time.
        if (++looks % 20 === 0) await forward(61)
        const each = await Promise.all(policies.map(premiums))
        return each.every((statuses) => statuses.length >= paid && statuses.every((status) => status === 'collected'))
      }, patience)
    }

    for (const id of policies) expect(await api('GET', `policies/${id}`)).toMatchObject({ status: 'active' })
    const collected = (await Promise.all(policies.map(premiums))).flat().length
    const paid = all
      .stripe()
      .objects()
      .filter(({ object, status }) => object === 'charge' && status === 'succeeded')
    expect(paid).toHaveLength(collected)
  },
)
