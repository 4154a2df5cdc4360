import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { OrganisationId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'
import { startReceiver, type Receiver } from '../../demo/receiver.ts'
import { startDeliveryWorker } from '../../delivery-worker/delivery-worker.ts'
import { LeadWebhook } from '../../delivery-worker/lifecycle/webhook-specs.ts'
import { reconcile } from '../../cli/reconciliation/reconcile.ts'
import { startStripe, type StripeStandIn } from '../../stand-ins/stripe/stripe.ts'
import { wholeService } from '../whole-service.ts'
import { firmFile, paymentSecret } from './first-year-firm.ts'

/** A policy's first year, through every role over HTTP: the operator moves the time, the banks answer by themselves. */

const organisation_id = OrganisationId.parse(derivedId('organisation', 'acme'))
const admin = `/admin/v1/organisations/${organisation_id}`
const patience = { timeout: 100_000, interval: 50 }
const day = 86_400

type Policy = {
  id: string
  status: string
  first_collection_on: string
  next_collection_on: string | null
  next_indexation_on: string | null
  premium_pence: number
  payment_method: { mandate_status: string }
  documents: unknown[]
}
type Premium = {
  premium_id: string
  number: number
  status: string
  attempt: number
  covers_from: string
  retry_at: string | null
  payment_intent_id: string
  refunded_pence: number
  refunds: { refund_id: string; is_left: boolean }[]
}

let service: Awaited<ReturnType<typeof wholeService>>
let stripe: StripeStandIn
let hooks: Receiver
let token: string
let stopWorker: () => Promise<void>
beforeAll(async () => {
  hooks = await startReceiver({ secret: 'the secret of the firm' })
  stripe = await startStripe(0, { banks: { afterMs: 1 } })
  service = await wholeService({ DELIVERY_ALLOWED_HOSTS: '127.0.0.1', DELIVERY_ALLOW_HTTP: 'true' })
  announce()
  const ending = new AbortController()
  const worker = await startDeliveryWorker({ ...service.parts, signal: ending.signal })
  stopWorker = async () => {
    ending.abort()
    await worker.stop()
  }
  await service.setUp(firmFile(hooks.url, stripe.url))
  token = (await service.client(organisation_id, ['read', 'write', 'crm'])).token
  // Another test's transaction may still hide what was set up.
  const body = { product_slug: 'term', journey_slug: 'standard' }
  const starts = async () => (await service.send('POST', '/api/v1/applications', { token, body })).status
  await vi.waitUntil(async () => (await starts()) === 201, patience)
}, 150_000)
afterAll(async () => {
  await stopWorker()
  await service[Symbol.asyncDispose]()
  await stripe.close()
  await hooks.close()
})

const announce = () => {
  const url = `${service.origin}/api/v1/webhooks/stripe/${organisation_id}`
  stripe.announceTo([{ url, secret: paymentSecret }])
}
const api = async <Data>(method: string, path: string, body?: object) =>
  (await service.send<Data>(method, `/api/v1/${path}`, { token, ...(body && { body }) })).body.data
const because = { reason: 'The customer asked for it.' }
const operate = async <Data>(path: string, body: object = {}) =>
  service.send<Data>('POST', `${admin}/policies/${path}`, { body })
const forward = async (seconds: number) =>
  service.send('POST', '/admin/v1/clock', { body: { forward_seconds: Math.ceil(seconds) } })
const now = async () => {
  const { body } = await service.send<{ now: string }>('GET', '/admin/v1/clock')
  return Date.parse(body.data.now)
}
/**
 * Waits until something is so. Whatever a machine under load did not answer in time is asked again some minutes later, of
 * business time: these go by faster here.
 */
const until = async (isSo: () => Promise<boolean>): Promise<void> => {
  let looks = 0
  await vi.waitUntil(async () => {
    if (await isSo()) return true
    if (++looks % 20 === 0) await forward(61)
    return false
  }, patience)
}
/** The afternoon of that day. */
const forwardTo = async (date: string) => forward((Date.parse(`${date}T15:00:00Z`) - (await now())) / 1000)

const bought = async (term_years = 25, { email = 'anna@example.org', isLead = true } = {}) => {
  const born = new Date((await now()) - 40 * day * 1000)
  born.setUTCFullYear(born.getUTCFullYear() - 34)
  const customer = {
    first_name: 'Anna',
    last_name: 'Ash',
    email,
    dob: born.toISOString().slice(0, 10),
    address_line1: '1 High Street',
    city: 'London',
    postal_code: 'SW1A 1AA',
  }
  if (isLead) await api('POST', 'crm/ingests', { source: 'website', identity: { email, first_name: 'Anna' } })
  const { id } = await api<{ id: string }>('POST', 'applications', {
    product_slug: 'term',
    journey_slug: 'standard',
    customer,
    answers: { smoker: false },
  })
  await api('PATCH', `applications/${id}`, { cover_amount_pence: 20_000_000, term_years })
  const quote = await api<{ id: string }>('POST', `applications/${id}/quotes`)
  const direct_debit = { account_holder_name: 'Anna Ash', sort_code: '08-99-99', account_number: '66374958' }
  await api('POST', `quotes/${quote.id}/direct_debit_details`, { direct_debit })
  return api<Policy>('POST', `quotes/${quote.id}/bind`)
}

const watch = (id: string) => {
  const policy = async () => api<Policy>('GET', `policies/${id}`)
  const premiums = async () => {
    const path = `/admin/v1/premiums?organisation_id=${organisation_id}&policy_id=${id}&limit=200`
    return (await service.send<Premium[]>('GET', path)).body.data.toReversed()
  }
  return {
    policy,
    premiums,
    untilPolicy: async (isSo: (shown: Policy) => boolean): Promise<Policy> => {
      await until(async () => isSo(await policy()))
      return policy()
    },
    untilPremium: async (number: number, status: string, attempt = 1): Promise<Premium> => {
      const found = async () => (await premiums()).find((each) => each.number === number)
      await until(async () => {
        const premium = await found()
        return premium?.status === status && premium.attempt === attempt
      })
      const premium = await found()
      if (!premium) throw new Error(`There is no premium ${number}.`)
      return premium
    },
    /** Webhooks of this type about the policy, in the order in which they came. */
    told: async (type: string, count = 1) => {
      const received = () =>
        hooks.received.filter((event) => event.type === type && JSON.stringify(event['payload']).includes(id))
      await until(async () => received().length >= count)
      return received()
    },
  }
}

test('what was collected can be taken back by the payer’s bank, and is owed again', { timeout: 240_000 }, async () => {
  const { id, first_collection_on } = await bought()
  const { untilPolicy, untilPremium, told } = watch(id)
  await untilPolicy(({ payment_method }) => payment_method.mandate_status === 'active')
  await forwardTo(first_collection_on)
  const { payment_intent_id } = await untilPremium(1, 'collected')
  await forward(35 * day)

  await fetch(`${stripe.url}/stand-in/payment_intents/${payment_intent_id}/dispute`, { method: 'POST' })

  const today = new Date(await now()).toISOString().slice(0, 10)
  expect(await untilPremium(1, 'failed')).toMatchObject({ failure_code: 'disputed', disputed_on: today })
  expect(await told('premium.failed')).toMatchObject([{ payload: { attempt: 1, failure_code: 'disputed' } }])
  // It is overdue from now on, not since it was due.
  expect(await untilPolicy(({ status }) => status === 'active')).toMatchObject({ status: 'active' })
  // The team has it collected once more.
  const [premium] = await watch(id).premiums()
  await operate(`${id}/premiums/${premium?.premium_id}/retry`, because)
  await untilPremium(1, 'collected', 2)
})

test(
  'a policy is collected, falls into arrears, lapses, is reinstated, follows prices and is reviewed',
  { timeout: 300_000 },
  async () => {
    const { id, first_collection_on, premium_pence } = await bought()
    const { untilPolicy, untilPremium, premiums, told: notedOf } = watch(id)
    const isOf = (metadata: unknown) => JSON.stringify(metadata).includes(id)

    await untilPolicy(({ payment_method }) => payment_method.mandate_status === 'active')
    await forward(2 * day)
    await untilPolicy(({ status }) => status === 'active')

    // Collected.
    await forwardTo(first_collection_on)
    await untilPremium(1, 'collected')
    expect(await notedOf('premium.due')).toMatchObject([{ payload: { amount_pence: premium_pence, attempt: 1 } }])
    expect(await notedOf('premium.collected')).toMatchObject([
      { aggregate: { type: 'premium' }, policy: { id, status: 'active', first_premium: { status: 'succeeded' } } },
    ])

    // Failed, retried twice, suspended, lapsed.
    stripe.letBanks({ afterMs: 1, failure_code: 'insufficient_funds' })
    const { next_collection_on } = await untilPolicy((shown) => shown.next_collection_on !== null)
    await forwardTo(next_collection_on ?? '')
    for (const attempt of [1, 2]) {
      // Ten days later, or on the next working day.
      const { retry_at } = await untilPremium(2, 'failed', attempt)
      await forward((Date.parse(retry_at ?? '') - (await now())) / 1000 + day / 2)
    }
    await untilPremium(2, 'failed', 3)
    expect(await notedOf('premium.failed', 3)).toMatchObject([
      { payload: { attempt: 1, failure_code: 'insufficient_funds' } },
      { payload: { attempt: 2 } },
      { payload: { attempt: 3 } },
    ])
    expect(await notedOf('premium.retried', 2)).toHaveLength(2)
    await forward(11 * day)
    await untilPolicy(({ status }) => status === 'suspended')
    await forward(31 * day)
    await untilPolicy(({ status }) => status === 'lapsed')
    await notedOf('policy.suspended')
    expect(await notedOf('policy.lapsed')).toMatchObject([{ payload: { policy_id: id }, policy: { id } }])
    await notedOf('premium.written_off')

    // Reinstated: what comes next is paid for from that day on.
    stripe.letBanks({ afterMs: 1 })
    const unpaid = (await premiums()).length
    const today = new Date(await now()).toISOString().slice(0, 10)
    expect(await operate(`${id}/reinstatement`)).toMatchObject({ status: 200, body: { data: { status: 'active' } } })
    expect(await notedOf('policy.reinstated')).toMatchObject([{ payload: { from: 'lapsed' } }])
    const back = await untilPolicy(({ status }) => status === 'active')
    await forwardTo(back.next_collection_on ?? '')
    expect(await untilPremium(unpaid + 1, 'collected')).toMatchObject({ covers_from: today })

    // Amended: the schedule is issued again.
    await operate(`${id}/amendment`, { components: [{ cover_index: 0, premium_pence: 1_000 }] })
    expect(await notedOf('policy.amended')).toMatchObject([{ payload: { premium_pence: 1_000 } }])
    await notedOf('policy.document_issued', 3)

    // A year on: cover follows prices, and the premiums are reviewed by the rates of then, with the age and the cover of then.
    const csv = String.raw`"age,smoker,rate_e4\n35,n,60000\n"`
    await service.setUp(firmFile(hooks.url, stripe.url, `      - { key: life.level, version: 2, csv: ${csv} }`))
    const table = `/admin/v1/rate_tables/life.level/versions/2?organisation_id=${organisation_id}`
    await until(async () => (await service.send('GET', table)).status === 200)
    await forwardTo(back.next_indexation_on ?? '')
    await untilPolicy((shown) => shown.next_indexation_on !== back.next_indexation_on)
    expect(await notedOf('policy.indexed')).toMatchObject([{ payload: { premium_pence: 1_100 } }])
    // £220,000 at 35: six pence for each thousand.
    expect(await notedOf('policy.reviewed')).toMatchObject([{ payload: { premium_pence: 1_320 } }])
    const address = `${admin}/policies/${id}/reviews/${back.next_indexation_on}/explanation`
    expect((await service.send('GET', address)).body.data).toMatchObject({
      rate_tables: [{ key: 'life.level', version: 2 }],
      components: [{ term_years: 24, steps: [{ step: 'rate', value: '60000' }, ...Array<object>(7).fill({})] }],
    })
    // The team decides otherwise.
    await operate(`${id}/review`, { components: [{ cover_index: 0, premium_pence: 1_200 }] })
    expect(await notedOf('policy.reviewed', 2)).toMatchObject([{}, { payload: { premium_pence: 1_200 } }])

    // A claim, from the telephone call to the payment.
    const opened = await operate<{ claim_id: string }>(`${id}/claims`, { claim_type: 'life', happened_on: today })
    const decide = async (decision: string, more: object = {}) =>
      operate(`${id}/claims/${opened.body.data.claim_id}/decisions`, { decision, ...more })
    await decide('request_evidence')
    await decide('approve', { amount_pence: 20_000_000 })
    await decide('pay', { ends_policy: true, note: 'The certificate was seen.' })
    for (const [type, amount_pence] of [
      ['claim.opened', null],
      ['claim.evidence_requested', null],
      ['claim.approved', 20_000_000],
      ['claim.paid', 20_000_000],
    ] as const)
      expect(await notedOf(type)).toMatchObject([
        { aggregate: { type: 'claim' }, payload: { claim_type: 'life', amount_pence }, policy: { id } },
      ])
    await untilPolicy(({ status }) => status === 'claimed')

    // Nothing was charged twice.
    const ended = new Set(['collected', 'written_off'])
    await until(async () => (await premiums()).every(({ status }) => ended.has(status)))
    const charged = stripe
      .objects()
      .filter(({ object, status, metadata }) => object === 'payment_intent' && status === 'succeeded' && isOf(metadata))
    const collected = (await premiums()).filter(({ status }) => status === 'collected')
    expect(charged).toHaveLength(collected.length)
  },
)

test('a premium that is given back and a policy that is cancelled are told of', { timeout: 240_000 }, async () => {
  const { id, first_collection_on, premium_pence } = await bought()
  const { untilPolicy, untilPremium, told } = watch(id)
  await untilPolicy(({ payment_method }) => payment_method.mandate_status === 'active')
  await forwardTo(first_collection_on)
  const { premium_id, payment_intent_id } = await untilPremium(1, 'collected')

  await operate(`${id}/premiums/${premium_id}/refund`, { all: true, ...because })
  expect(await told('premium.refunded')).toMatchObject([
    { aggregate: { type: 'premium', id: premium_id }, payload: { policy_id: id, amount_pence: premium_pence } },
  ])
  const refunds = () =>
    stripe.objects().filter(({ object, payment_intent }) => object === 'refund' && payment_intent === payment_intent_id)
  expect(refunds()).toMatchObject([{ amount: premium_pence }])

  // Days later the payer's bank does not take it: it is owed again until the team has it tried once more.
  const body = { failure_reason: 'expired_or_canceled_card' }
  const fail = async (refund: string | undefined) =>
    fetch(`${stripe.url}/stand-in/refunds/${refund}/fail`, { method: 'POST', body: new URLSearchParams(body) })
  await fail(refunds()[0]?.id)
  expect(await told('premium.refund_failed')).toMatchObject([
    { payload: { premium_id, amount_pence: premium_pence, failure_code: body.failure_reason } },
  ])
  const left = await untilPremium(1, 'collected')
  expect(left).toMatchObject({ refunded_pence: 0, refunds: [{ status: 'owed', is_left: true }] })
  const refund = `${id}/premiums/${premium_id}/refunds/${left.refunds[0]?.refund_id}`
  await operate(`${refund}/retry`, because)
  await until(async () => (await untilPremium(1, 'collected')).refunded_pence === premium_pence)
  expect(await operate(`${refund}/closure`, { how: 'not_owed', reason: 'x' })).toMatchObject({
    status: 409,
    body: { error: { code: 'conflict' } },
  })

  // Once more, and the account is closed: the team pays it by bank transfer, which closes it.
  await fail(refunds()[1]?.id)
  await until(async () => (await untilPremium(1, 'collected')).refunds[0]?.is_left === true)
  const closing = { how: 'paid_otherwise', reason: 'Bank transfer to the new account.' }
  expect(await operate(`${refund}/closure`, { ...closing, paid_on: '2999-01-01' })).toMatchObject({
    status: 422,
    body: { error: { code: 'validation_failed', fields: { paid_on: expect.stringContaining('must be') as string } } },
  })
  const closed = await operate<Premium>(`${refund}/closure`, closing)
  expect((await operate<Premium>(`${refund}/closure`, closing)).body).toEqual(closed.body)
  expect(closed.body.data).toMatchObject({
    refunded_pence: premium_pence,
    refunds: [{ status: 'paid_otherwise', is_left: false, paid_on: new Date(await now()).toISOString().slice(0, 10) }],
  })
  expect((await told('premium.refunded', 3))[2]).toMatchObject({ payload: { premium_id, amount_pence: premium_pence } })

  await operate(`${id}/cancellation`, { reason: 'customer_request', note: 'By telephone.' })
  expect(await told('policy.cancelled')).toMatchObject([
    { payload: { policy_id: id, reason: 'customer_request', cooling_off: false }, policy: { id, status: 'cancelled' } },
  ])
})

test('a policy that comes to its end is told of, after all that was due before', { timeout: 240_000 }, async () => {
  const { id } = await bought(1)
  const { untilPolicy, untilPremium, told, premiums } = watch(id)
  await untilPolicy(({ payment_method }) => payment_method.mandate_status === 'active')

  // Nobody tells of what the banks have answered: it is asked for when it is due.
  stripe.announceTo([])
  await forward(400 * day)

  await untilPolicy(({ status }) => status === 'expired')
  expect(await told('policy.expired')).toMatchObject([
    { payload: { policy_id: id }, policy: { id, status: 'expired' } },
  ])
  await untilPremium(12, 'collected')
  expect((await premiums()).map(({ number }) => number)).toEqual(Array.from({ length: 12 }, (_, index) => index + 1))
  const path = `/admin/v1/policies/${id}/timeline?organisation_id=${organisation_id}&limit=200`
  // What follows from an event happened when that did, and is recorded a moment later: in its day.
  const told_on = (await service.send<{ occurred_at: string }[]>('GET', path)).body.data.map(({ occurred_at }) =>
    occurred_at.slice(0, 10),
  )
  expect(told_on).toEqual(told_on.toSorted())
  announce()
})

test(
  'after the year the ledger balances, and says of every payment what the provider says',
  { timeout: 240_000 },
  async () => {
    const directory = await mkdtemp(join(tmpdir(), 'coverstream-year-'))
    const file = join(directory, 'balance.csv')
    const said: string[] = []
    const compare = async () => {
      const headers = { authorization: `Basic ${Buffer.from('sk_test_acme:').toString('base64')}` }
      await writeFile(
        file,
        await (await fetch(`${stripe.url}/stand-in/balance_change_from_activity.csv`, { headers })).text(),
      )
      said.length = 0
      const asked = { organisation_id, test: true, until: undefined }
      return reconcile(service.parts.pool, file, asked, { write: (text) => said.push(text) })
    }

    await until(async () => (await compare()) === 0).catch(() => undefined)

    expect(said.at(-1)).toBe('No differences\n')

    const { body } = await service.send<{ balanced: boolean }[]>('GET', `${admin}/ledger/trial_balance`)
    expect(body.data.map(({ balanced }) => balanced)).toEqual([true])
    await rm(directory, { recursive: true })
  },
)

test('what happened to the policy stands on the timeline of its person', { timeout: 120_000 }, async () => {
  const path = `${admin}/lead_events?limit=200`
  const kinds = async () => {
    const { body } = await service.send<{ event_type: string }[]>('GET', path)
    return new Set(body.data.map(({ event_type }) => event_type))
  }
  const wanted = ['policy_bound', 'premium_failed', 'policy_lapsed', 'claim_opened', 'document_sent']
  const missing = async () => {
    const found = await kinds()
    return wanted.filter((kind) => !found.has(`activity.${kind}`))
  }
  await vi.waitUntil(async () => (await missing()).length === 0, patience)

  expect(await missing()).toEqual([])
})

test('a buyer who never was a lead: the sale is told of without a lead record', { timeout: 120_000 }, async () => {
  const { id } = await bought(25, { email: 'never@example.org', isLead: false })
  const told = () =>
    hooks.received.filter((body) => body['event_type'] === 'activity.policy_bound' && JSON.stringify(body).includes(id))
  await vi.waitUntil(() => told().length > 0, patience)

  const { contact_id, contact, lead } = LeadWebhook.parse(told()[0])

  expect(contact).toMatchObject({ name: 'Anna Ash', email: 'never@example.org', external_system_id: null })
  expect(lead).toEqual({ ...lead, ...contact, stage: null, status: null, score: null, owner: null, priority: null })
  const listed = await service.send('GET', `${admin}/leads/${contact_id}`)
  const timeline = await service.send<{ event_type: string }[]>('GET', `${admin}/leads/${contact_id}/timeline`)
  expect(listed.status).toBe(404)
  expect(timeline.body.data.map(({ event_type }) => event_type)).toContain('activity.policy_bound')
})
