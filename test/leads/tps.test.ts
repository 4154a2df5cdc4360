import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { ProviderAccountId } from '#domain/provider-accounts/events.ts'
import { accountOpener, accountSecretBinding, type SealedAccount } from '#domain/provider-accounts/record.ts'
import type { LeadRecord, MarketingPermission } from '#domain/leads/record.ts'
import { CustomerId } from '#domain/values.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { unseal, seal } from '#infra/crypto/seal.ts'
import { makeLog } from '#infra/log.ts'
import { tpsClear } from '#infra/tps/tpsclear.ts'
import { customer } from '#domain/customers/customer.ts'
import { screenNumbers } from '../../command-api/leads/screen-numbers.ts'
import { commandHandler } from '../../command-api/writing/handle.ts'
import { outsideHttp } from '../outside-http.ts'
import { startTps } from '../../stand-ins/tps.ts'
import { organisation_id } from './builders.ts'
import { as, openLeads, type Fixture } from './fixture.ts'

const keys = deriveKeys(randomBytes(32).toString('base64'))
let isSilent = false
const outside = outsideHttp(() => isSilent)
const accounts = new Map<string, SealedAccount>()
const patience = { timeout: 60_000, interval: 10 }
const noon = '2026-01-15T12:00:00.000Z'
const daysLater = (days: number) => new Date(Date.parse(noon) + days * 86_400_000).toISOString()

let fixture: Fixture
let tps: Awaited<ReturnType<typeof startTps>>
let screening: ReturnType<typeof screenNumbers>
let now = noon

const giveAccount = () => {
  const id = ProviderAccountId.parse('50000000-0000-5000-8000-000000000011')
  const sealed_secret = seal(keys, 'tps-key', accountSecretBinding(organisation_id, id))
  const account = {
    id,
    organisation_id,
    provider: 'tpsclear',
    base_url: tps.url,
    account: null,
    sealed_secret,
    sealed_webhook_secret: null,
  } as const
  accounts.set(`${organisation_id} tpsclear`, { ...account, updated_at: noon })
}

beforeAll(async () => {
  ;[fixture, tps] = await Promise.all([openLeads(), startTps()])
  giveAccount()
  const people = commandHandler(fixture.writer, customer)
  screening = screenNumbers({
    leads: fixture.leads,
    openAccount: accountOpener(accounts, (sealed, place) => unseal(keys, sealed, place)),
    screen: tpsClear(outside),
    phoneOf: async (_organisation_id, id) => (await people.load(id))?.phone_number ?? null,
    clock: { now: () => new Date(now) },
    log: makeLog('silent', 'test'),
  })
})
afterEach(() => {
  now = noon
  fixture.at(noon)
  giveAccount()
  tps.misbehave(undefined)
  isSilent = false
})
afterAll(async () => {
  await Promise.all([outside.close(), tps.close()])
  await fixture[Symbol.asyncDispose]()
})

const time = (instant: string) => {
  now = instant
  fixture.at(instant)
}

const record = async (contact_id: CustomerId): Promise<LeadRecord> => {
  const { body } = await fixture.get(`/admin/v1/organisations/${organisation_id}/leads/${contact_id}`)
  return (body as { data: LeadRecord }).data
}

/** A lead whose person has this number, or none. */
const lead = async (phone_number: string | null) => {
  const contact_id = CustomerId.parse(crypto.randomUUID())
  if (phone_number) await fixture.know(contact_id, { first_name: 'Ada', phone_number })
  return fixture.send(undefined, { contact_id })
}

const fire = async (id: CustomerId) => {
  const due = { organisation_id, kind: 'lead_tps', id, stream: `lead-${id}`, due_at: now }
  const actor = { type: 'system', id: 'timer lead_tps' } as const
  await screening.fire(due, { organisation_id, actor, correlation_id: 'test', now })
}

/** Fires the timer until the lead's plan is another. */
const screen = async (contact_id: CustomerId) => {
  const before = (await record(contact_id)).tps_planned
  return vi.waitFor(async () => {
    await fire(contact_id)
    const after = await record(contact_id)
    expect(after.tps_planned).not.toEqual(before)
    return after
  }, patience)
}

const screenings = async (contact_id: CustomerId) => {
  const { body } = await fixture.get(
    `/api/v1/crm/events?type=lead.tps_screened&contact_id=${contact_id}`,
    as('website'),
  )
  return (body as { data: { payload: object }[] }).data.map(({ payload }) => payload)
}

test.each<readonly [number: string | null, status: string, why: string]>([
  ['+447700900121', 'registered', 'is on the list of private people'],
  ['+441632960002', 'registered', 'is on the list of companies'],
  ['+447700900123', 'clear', 'is on neither list'],
  ['+33142685300', 'not_applicable', 'is not of the United Kingdom'],
  [null, 'not_applicable', 'is not known'],
])('a lead whose number is %s is %s: it %s', async (phone_number, status) => {
  const contact_id = await lead(phone_number)
  expect((await record(contact_id)).tps).toBeNull()

  expect((await screen(contact_id)).tps).toEqual({
    status,
    phone_number,
    screened_at: noon,
    expires_at: daysLater(28),
  })
  expect(await screenings(contact_id)).toEqual([{ status, screened_at: noon, expires_at: daysLater(28) }])
})

test('after 28 days a number is screened again, and a lead that has ended is not', async () => {
  const [worked, ended] = [await lead('+447700900123'), await lead('+447700900124')]
  await Promise.all([screen(worked), screen(ended)])
  await fixture.act(ended, { type: 'ChangeStatus', status: 'lost', reason: null })

  expect((await record(worked)).tps_planned?.due_at).toBe(daysLater(28))
  expect((await record(ended)).tps_planned).toBeNull()
  time(daysLater(28))
  expect((await screen(worked)).tps).toMatchObject({ screened_at: daysLater(28), expires_at: daysLater(56) })
  await fixture.act(ended, { type: 'ChangeStatus', status: 'open', reason: null })
  expect((await screen(ended)).tps?.screened_at).toBe(daysLater(28))
  expect(await screenings(worked)).toHaveLength(2)
})

test('a number that has changed is screened at once, also one that had none to screen', async () => {
  const contact_id = await lead(null)
  await screen(contact_id)
  time(daysLater(1))
  await fixture.know(contact_id, { phone_number: '+447700900121' })
  await fixture.act(contact_id, { type: 'RecordDetailsChange', changed: ['phone_number'] })

  expect((await screen(contact_id)).tps).toMatchObject({
    status: 'registered',
    phone_number: '+447700900121',
    screened_at: daysLater(1),
  })
})

test('a screening says nothing of another number, nor of a number after 28 days: a call is not said to be allowed', async () => {
  const contact_id = await lead('+447700900127')
  const call = async () => {
    const { body } = await fixture.get(`/admin/v1/organisations/${organisation_id}/leads/${contact_id}`)
    const { marketing } = (body as { data: { marketing: MarketingPermission[] } }).data
    return marketing.find(({ channel }) => channel === 'phone')
  }
  const unknown = { channel: 'phone', allowed: false, reason: 'not_screened' }
  await screen(contact_id)
  expect(await call()).toEqual({ channel: 'phone', allowed: true, reason: 'not_on_tps' })
  time(daysLater(28))
  expect(await call()).toEqual(unknown)

  time(daysLater(1))
  await fixture.know(contact_id, { phone_number: '+447700900121' })
  expect(await call()).toEqual(unknown)
  await fixture.know(contact_id, { phone_number: '+33142685300' })
  await fixture.act(contact_id, { type: 'RecordDetailsChange', changed: ['phone_number'] })
  await screen(contact_id)
  time(daysLater(60))
  // A number abroad is on no list, however long ago that was found out.
  expect(await call()).toEqual({ channel: 'phone', allowed: true, reason: 'not_on_tps' })
})

test('what could not be screened is tried again later, for as long as it takes', async () => {
  const contact_id = await lead('+447700900125')
  for (const [failed_tries, minutes] of [
    [1, 1],
    [2, 5],
    [3, 30],
    [4, 120],
    [5, 360],
    [6, 360],
  ] as const) {
    isSilent = failed_tries === 2
    tps.misbehave(() => (isSilent ? 'hang' : { status: failed_tries === 3 ? 200 : 503, body: { results: 1 } }))
    const due_at = new Date(Date.parse(now) + minutes * 60_000).toISOString()
    expect(await screen(contact_id)).toMatchObject({
      tps: null,
      tps_planned: { due_at, failed_tries, trouble: 'no_answer' },
    })
    time(due_at)
  }
  tps.misbehave(undefined)
  expect(await screen(contact_id)).toMatchObject({ tps: { status: 'clear' }, tps_planned: { failed_tries: 0 } })
})

test('many leads that are due share a request, and one that fires twice is screened once', async () => {
  const leads = await Promise.all(Array.from({ length: 20 }, (_, index) => lead(`+4477009004${10 + index}`)))
  const before = tps.requests.length
  // While the first requests are under way, the others wait for them together.
  isSilent = true
  tps.misbehave(() => {
    isSilent = tps.requests.length - before <= 2
    return isSilent ? 'hang' : undefined
  })
  await Promise.all([...leads, ...leads].map(fire))
  await vi.waitFor(async () => {
    for (const each of leads) expect((await record(each)).tps_planned?.due_at).not.toBe(noon)
  }, patience)

  expect(tps.requests.length - before).toBeLessThan(20)
  await Promise.all(leads.map(fire))
  for (const each of leads) expect((await screenings(each)).length).toBeLessThan(2)
  expect(tps.requests[before]?.header('authorization')).toBe('Bearer tps-key')
})

test('without an account there is no screening, and what was planned is given up', async () => {
  const contact_id = await lead('+447700900126')
  accounts.clear()

  expect(await screen(contact_id)).toMatchObject({ tps: null, tps_planned: null })
})
