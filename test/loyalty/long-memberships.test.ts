import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { EntryResult, ShownMembership } from '#domain/loyalty/record.ts'
import { makeWriter } from '../../command-api/writing/writer.ts'
import { makeMemberships } from '../../command-api/loyalty/memberships.ts'
import { makeMembershipSnapshots } from '../../command-api/loyalty/snapshots.ts'
import { openFirm, type Firm } from '../outreach/firm.ts'

// Thousands of events are sent.
vi.setConfig({ testTimeout: 120_000 })

let firm: Firm
let programme_id: string
beforeAll(async () => {
  firm = await openFirm()
  const cycle = { months: 12, starts: 'confirmation' }
  const created = await firm.service.send<{ id: string }>('POST', `${firm.admin}/programmes`, {
    body: { slug: 'vitality', name: 'Vitality', tiers: [], cycle },
  })
  programme_id = created.body.data.id
}, 90_000)
afterAll(() => firm[Symbol.asyncDispose]())

let members = 0
const confirmed = async (customer_id: string | null = null) => {
  const body = { policy_number: `P-${++members}`, customer_id }
  const address = `${firm.admin}/programmes/${programme_id}/memberships`
  const enrolled = await firm.service.send<ShownMembership>('POST', address, { body })
  const reference = `V-${members}`
  await firm.service.send('PATCH', `/api/v1/programme_memberships/${enrolled.body.data.id}`, {
    token: firm.client.token,
    body: { status: 'active', external_member_ref: reference },
  })
  return { id: enrolled.body.data.id, reference }
}
type Recorded = { readonly events: readonly EntryResult[]; readonly membership: ShownMembership }
const post = async (reference: string, keys: readonly string[]) => {
  const events = keys.map((idempotency_key) => ({ idempotency_key, entry_type: 'points_awarded', points: 1 }))
  const { body } = await firm.service.send<Recorded>('POST', `/api/v1/programme_memberships/${reference}/events`, {
    token: firm.client.token,
    body: { events },
  })
  return body.data
}
const keysFrom = (first: number, count: number) => Array.from({ length: count }, (_, index) => `key-${first + index}`)
const readsOf = () => {
  const { eventLog, pool, dataKeys, log } = firm.service.parts
  let events = 0
  const counting: typeof eventLog = {
    ...eventLog,
    read: async (stream, options) => {
      const page = await eventLog.read(stream, options)
      events += page.length
      return page
    },
  }
  // As a process that has just started.
  const writer = makeWriter({ log: counting, seen: async () => undefined })
  const snapshots = makeMembershipSnapshots({ pool, eventLog: counting, dataKeys, log })
  const { load } = makeMemberships({ writer, digest: dataKeys.digest, programmes: new Map(), snapshots })
  return { load, events: () => events }
}

test('a member with thousands of events is read by a new process in a bounded number of events, and is the same', async () => {
  const { id, reference } = await confirmed()
  for (let first = 0; first < 3_000; first += 1_000) await post(reference, keysFrom(first, 1_000))
  await post(reference, ['last'])

  const { load, events } = readsOf()
  const loaded = await load(id)

  expect(loaded.membership).toMatchObject({ status: 'active', external_member_ref: reference, cycle_points: 3_001 })
  expect(events()).toBeLessThan(600)
})

test('a member whose snapshot was removed while the process remembers them goes on', async () => {
  const { reference } = await confirmed()
  await post(reference, keysFrom(0, 600))
  await firm.service.parts.pool.query('delete from fold_snapshot')

  expect((await post(reference, ['later'])).membership.cycle_points).toBe(601)
  expect((await post(reference, ['later', 'key-0'])).membership.cycle_points).toBe(601)
})

test('a repeated key is recognised however old, and answered with what was recorded', async () => {
  const { reference } = await confirmed()
  const first = await post(reference, ['the oldest'])
  await post(reference, keysFrom(0, 1_000))
  await post(reference, keysFrom(1_000, 1_000))

  const again = await post(reference, ['the oldest', 'fresh', 'key-1', 'key-1999'])

  expect(again.events.map(({ points, replayed }) => [points, replayed])).toEqual([
    [1, true],
    [1, false],
    [1, true],
    [1, true],
  ])
  expect(again.events[0]?.id).toBe(first.events[0]?.id)
  expect(again.membership.cycle_points).toBe(2_002)
})

test('a process that cached a member before another saved a snapshot counts no event twice', async () => {
  const { id, reference } = await confirmed()
  const { eventLog, pool, dataKeys, log } = firm.service.parts
  const writer = makeWriter({ log: eventLog, seen: async () => undefined })
  const snapshots = makeMembershipSnapshots({ pool, eventLog, dataKeys, log, every: 10 })
  const other = makeMemberships({ writer, digest: dataKeys.digest, programmes: new Map(), snapshots })
  await other.load(id)
  await post(reference, keysFrom(0, 1_000))

  await other.load(id)
  const told = await other.load(id)
  const repeated = await post(reference, keysFrom(0, 1_000))

  expect(told).toMatchObject({ entries: { size: 0 } })
  expect(repeated.events.every(({ replayed, entry_type }) => replayed && entry_type === 'points_awarded')).toBe(true)
  expect(repeated.membership.cycle_points).toBe(1_000)
})

test('a snapshot that is of another log, or was lost, is not used', async () => {
  const { id, reference } = await confirmed()
  await post(reference, keysFrom(0, 600))
  const { pool } = firm.service.parts

  await pool.query(`update fold_snapshot set last_event_id = gen_random_uuid() where name = $1`, [`membership-${id}`])
  const strange = await readsOf().load(id)
  await pool.query(`delete from fold_snapshot where name = $1`, [`membership-${id}`])
  await pool.query(`delete from membership_entry_key where membership_id = $1`, [id])
  const lost = await readsOf().load(id)

  expect([strange, lost].map((state) => state.membership?.cycle_points)).toEqual([600, 600])
})

test('the partner’s reference is sealed in it, and empty once its member was erased', async () => {
  const contact = await firm.lead()
  const { id, reference } = await confirmed(contact)
  await post(reference, keysFrom(0, 600))
  const { pool, dataKeys } = firm.service.parts
  const saved = await pool.query<{ text: string }>(`select state as text from fold_snapshot where name = $1`, [
    `membership-${id}`,
  ])

  await dataKeys.erase({ organisation_id: firm.id, subject: `person:${contact}` })

  expect(saved.rows[0]?.text).not.toContain(reference)
  expect((await readsOf().load(id)).membership?.external_member_ref).toBe('')
})
