import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { EntryResult, ShownMembership } from '#domain/loyalty/record.ts'
import { wholeService, type Client } from '../whole-service.ts'

const file = (slug: string) => `
organisations:
  - slug: ${slug}
    name: A firm
    loyalty_programmes:
      - slug: vitality
        name: Vitality
        tiers: [{ key: bronze, name: Bronze, threshold: 0 }, { key: gold, name: Gold, threshold: 5000 }]
        cycle: { months: 12, starts: confirmation }
`

type Service = Awaited<ReturnType<typeof wholeService>>
let service: Service
let partner: Client
let stranger: Client
let organisation_id: string
let programme_id: string

beforeAll(async () => {
  service = await wholeService()
  await service.setUp(file('firm'))
  await service.setUp(file('other'))
  const { body } = await service.send<readonly { id: string; slug: string }[]>('GET', '/admin/v1/organisations')
  const idOf = (slug: string) => String(body.data.find((each) => each.slug === slug)?.id)
  organisation_id = idOf('firm')
  partner = await service.client(organisation_id, ['read', 'write'])
  stranger = await service.client(idOf('other'), ['read', 'write'])
  const address = `/admin/v1/organisations/${organisation_id}/programmes`
  const programmes = await service.send<readonly { id: string }[]>('GET', address)
  programme_id = String(programmes.body.data[0]?.id)
}, 60_000)
afterAll(() => service[Symbol.asyncDispose]())

let policies = 0
const enrolled = async (): Promise<ShownMembership> => {
  const address = `/admin/v1/organisations/${organisation_id}/programmes/${programme_id}/memberships`
  const { status, body } = await service.send<ShownMembership>('POST', address, {
    body: { policy_number: `P-${++policies}` },
  })
  expect(status).toBe(201)
  return body.data
}
const address = (reference: string) => `/api/v1/programme_memberships/${reference}`
const send = <Data = ShownMembership>(method: string, reference: string, body?: object, by = partner) =>
  service.send<Data>(method, address(reference), { token: by.token, ...(body && { body }) })
type Recorded = { readonly events: readonly EntryResult[]; readonly membership: ShownMembership }
const post = (reference: string, events: unknown, by = partner) =>
  service.send<Recorded>('POST', `${address(reference)}/events`, { token: by.token, body: { events } })
const active = async (external_member_ref: string) => {
  const { id } = await enrolled()
  const { body } = await send('PATCH', id, { status: 'active', external_member_ref })
  return body.data
}

describe('GET /programme_memberships/{external_ref}', () => {
  test('before confirmation it is found by the service’s membership id', async () => {
    const { id, policy_number } = await enrolled()
    expect((await send('GET', id)).body.data).toEqual({
      id,
      programme_slug: 'vitality',
      programme_name: 'Vitality',
      policy_number,
      status: 'pending',
      external_member_ref: null,
      current_tier_key: null,
      cycle_points: 0,
      cycle_started_on: null,
      cycle_ends_on: null,
    })
  })

  test('afterwards by the partner’s reference, and still by the id', async () => {
    const { id } = await active('GET 1/ü')
    const [byReference, byId] = [await send('GET', encodeURIComponent('GET 1/ü')), await send('GET', id)]
    expect(byReference.body.data.id).toBe(id)
    expect(byReference.body).toEqual(byId.body)
  })

  test('404, and no fault of ours: a reference with U+0000; 422: such a filter, a cursor that no stream reaches', async () => {
    expect((await send('GET', '%00')).status).toBe(404)
    const { id } = await active('for-cursors')
    const list = `/admin/v1/organisations/${organisation_id}/memberships`
    for (const path of [`${list}?external_member_ref=%00`, `${list}/${id}/events?cursor=99999999999`]) {
      const { status, body } = await service.send('GET', path)
      expect([status, body.error?.code]).toEqual([422, 'invalid_parameter'])
    }
  })

  test('404, and not 422: what is sent of an unknown reference does not matter', async () => {
    const { id } = await active('unfit')
    for (const [reference, status] of [
      ['nobody-at-all', 404],
      [id, 422],
    ] as const) {
      expect((await send('PATCH', reference, { status: 'unheard-of' })).status).toBe(status)
      expect((await post(reference, [])).status).toBe(status)
    }
  })

  test('404: a reference that is only recorded, an unknown one, or another organisation’s', async () => {
    const { id } = await enrolled()
    await send('PATCH', id, { external_member_ref: 'recorded-only' })
    await active('of-the-firm')
    expect((await send('GET', 'recorded-only')).status).toBe(404)
    expect((await send('GET', 'nobody')).status).toBe(404)
    for (const reference of [id, 'of-the-firm'])
      for (const answer of [
        await send('GET', reference, undefined, stranger),
        await send('PATCH', reference, { status: 'suspended' }, stranger),
        await post(reference, [{ idempotency_key: 'x', entry_type: 'points_awarded', points: 1 }], stranger),
      ])
        expect([answer.status, answer.body.error?.code]).toEqual([404, 'not_found'])
  })
})

describe.each(['PATCH', 'PUT'])('%s /programme_memberships/{external_ref}', (method) => {
  test('confirms a pending enrolment, and only the fields sent change', async () => {
    const { id } = await enrolled()
    const reference = `${method}-confirmed`
    const { status, body } = await send(method, id, { status: 'active', external_member_ref: reference })
    expect(status).toBe(200)
    expect(body.data).toMatchObject({ status: 'active', external_member_ref: reference })
    expect(body.data.cycle_started_on).toMatch(/^\d{4}-\d\d-\d\d$/)
    const suspended = await send(method, reference, { status: 'suspended' })
    expect(suspended.body.data).toEqual({ ...body.data, status: 'suspended' })
  })

  test.each([
    [{}, undefined],
    [{ status: 'pending' }, { status: expect.any(String) as unknown }],
    [{ status: 'active' }, { external_member_ref: 'is missing' }],
    [
      { status: 'active', external_member_ref: '..' },
      { external_member_ref: 'must be more than dots: it is the member’s address' },
    ],
  ])('422: %j is unusable', async (body, fields) => {
    const { id } = await enrolled()
    const answer = await send(method, id, body)
    expect([answer.status, answer.body.error?.code, answer.body.error?.fields]).toEqual([
      422,
      'validation_failed',
      fields,
    ])
  })

  test('409: our id of another membership names that one for ever, and is no reference', async () => {
    const [{ id }, { id: other }] = [await enrolled(), await enrolled()]
    for (const status of [undefined, 'active']) {
      const refused = await send(method, id, { status, external_member_ref: other })
      expect([refused.status, refused.body.error?.code, refused.body.error?.fields]).toEqual([
        409,
        'external_member_ref_mismatch',
        { external_member_ref: 'is the id of another membership' },
      ])
    }
    expect((await send('GET', id)).body.data).toMatchObject({ status: 'pending', external_member_ref: null })
    expect((await send(method, id, { status: 'active', external_member_ref: id })).status).toBe(200)
  })

  test('409: a cancelled membership, a forbidden transition, another reference', async () => {
    const { id } = await enrolled()
    expect((await send(method, id, { status: 'suspended' })).body.error?.code).toBe('invalid_transition')
    await send(method, id, { status: 'active', external_member_ref: `${method}-fixed` })
    const other = await send(method, id, { external_member_ref: 'another' })
    expect([other.status, other.body.error?.code]).toEqual([409, 'external_member_ref_mismatch'])
    await send(method, id, { status: 'cancelled' })
    expect((await send(method, id, { status: 'active' })).body.error?.code).toBe('membership_cancelled')
    expect((await post(id, [award('x')])).body.error?.code).toBe('membership_cancelled')
  })
})

describe('a member reference', () => {
  test('is trimmed alike where it is given, in the address and where the operator looks for it', async () => {
    const { id, external_member_ref } = await active('  trimmed ')
    expect(external_member_ref).toBe('trimmed')
    expect((await send('PATCH', id, { external_member_ref: ' trimmed  ' })).status).toBe(200)
    expect((await send('GET', '%20trimmed%20')).body.data).toMatchObject({ id })
    const list = `/admin/v1/organisations/${organisation_id}/memberships?external_member_ref=%20trimmed`
    await vi.waitFor(async () => {
      const { body } = await service.send<readonly { id: string }[]>('GET', list)
      expect(body.data.map((each) => each.id)).toEqual([id])
    })
  })
})

const award = (key: string, points = 10) => ({ idempotency_key: key, entry_type: 'points_awarded', points })

describe('POST /programme_memberships/{external_ref}/events', () => {
  test('the whole batch is recorded, in order; an event whose key is already recorded is skipped', async () => {
    await active('batch')
    const batch = [
      award('one', 100),
      { idempotency_key: 'two', entry_type: 'points_adjusted', points: -30, payload: { reason: 'mistake' } },
      {
        idempotency_key: 'three',
        entry_type: 'tier_asserted',
        tier_key: 'gold',
        occurred_at: '2026-01-01T10:00:00+01:00',
      },
    ]
    const first = await post('batch', batch)
    expect(first.status).toBe(200)
    expect(first.body.data.events.map(({ id: _id, ...rest }) => rest)).toEqual([
      { entry_type: 'points_awarded', points: 100, tier_key: null, replayed: false },
      { entry_type: 'points_adjusted', points: -30, tier_key: null, replayed: false },
      { entry_type: 'tier_asserted', points: null, tier_key: 'gold', replayed: false },
    ])
    expect(first.body.data.membership).toMatchObject({ cycle_points: 70, current_tier_key: 'gold' })

    const again = await post('batch', [...batch, award('four', 1)])
    expect(again.body.data.events.map(({ replayed }) => replayed)).toEqual([true, true, true, false])
    expect(again.body.data.events.slice(0, 3).map(({ id }) => id)).toEqual(first.body.data.events.map(({ id }) => id))
    expect((await send('GET', 'batch')).body.data).toMatchObject({ cycle_points: 71 })
  })

  test('a payload keeps the digits that its sender wrote', async () => {
    const { id } = await active('digits')
    const payload = '{"card":179568673700000011,"rate":1.10,"zero":-0,"whole":7,"list":[12345678901234567890]}'
    const body = `{"events":[{"idempotency_key":"d","entry_type":"points_awarded","points":1,"payload":${payload}}]}`
    const { status } = await service.send('POST', `${address('digits')}/events`, { token: partner.token, body })
    expect(status).toBe(200)
    const recorded = (await service.parts.eventLog.read(`membership-${id}`)).findLast(({ data }) => 'payload' in data)
    expect(recorded?.data['payload']).toEqual({
      card: '179568673700000011',
      rate: '1.10',
      zero: '-0',
      whole: 7,
      list: ['12345678901234567890'],
    })
  })

  test('a repeated key is answered with what was recorded, whatever is sent with it now', async () => {
    await active('said-before')
    await post('said-before', [award('one', 100)])
    const again = await post('said-before', [{ idempotency_key: 'one', entry_type: 'tier_asserted', tier_key: 'gold' }])
    expect(again.body.data).toMatchObject({
      events: [{ entry_type: 'points_awarded', points: 100, tier_key: null, replayed: true }],
      membership: { current_tier_key: null },
    })
  })

  test('points of a cycle long ago are recorded and count no more, whatever the year', async () => {
    await active('long-ago')
    const years = ['0001-01-01T00:00:00Z', '0500-06-01T12:00:00Z', '1000-01-01T00:00:00Z']
    const { status, body } = await post(
      'long-ago',
      years.map((occurred_at) => ({ ...award(occurred_at), occurred_at })),
    )
    expect([status, body.data.events.map(({ replayed }) => replayed)]).toEqual([200, [false, false, false]])
    expect(body.data.membership.cycle_points).toBe(0)
  })

  test('409 membership_pending: nothing is recorded', async () => {
    const { id } = await enrolled()
    const refused = await post(id, [award('early')])
    expect([refused.status, refused.body.error?.code]).toEqual([409, 'membership_pending'])
  })

  test.each([
    [undefined, 'events'],
    [[], 'events'],
    [[award('ok'), { ...award('x'), entry_type: 'points_stolen' }], 'events[1].entry_type'],
    [[{ entry_type: 'points_awarded', points: 1 }], 'events[0].idempotency_key'],
    [[award('zero', 0)], 'events[0].points'],
    [[{ idempotency_key: 'none', entry_type: 'points_adjusted' }], 'events[0].points'],
    [[{ idempotency_key: 'tierless', entry_type: 'tier_asserted' }], 'events[0].tier_key'],
    [[award('ok'), { idempotency_key: 't', entry_type: 'tier_asserted', tier_key: 'lead' }], 'events[1].tier_key'],
    [[{ ...award('when'), occurred_at: 'yesterday' }], 'events[0].occurred_at'],
    [[{ ...award('future'), occurred_at: '2099-01-01T00:00:00Z' }], 'events[0].occurred_at'],
  ])('422 for %j names %s, and nothing is recorded', async (events, field) => {
    const { id } = await active(`unusable-${++policies}`)
    const { status, body } = await post(id, events)
    expect([status, body.error?.code, Object.keys(body.error?.fields ?? {})]).toEqual([
      422,
      'validation_failed',
      [field],
    ])
    expect((await send('GET', id)).body.data.cycle_points).toBe(0)
  })

  test('one batch sent twenty times at once counts once', async () => {
    await active('at-once')
    const answers = await Promise.all(Array.from({ length: 20 }, () => post('at-once', [award('same', 7)])))
    expect(answers.filter(({ body }) => !body.data.events[0]?.replayed)).toHaveLength(1)
    expect((await send('GET', 'at-once')).body.data.cycle_points).toBe(7)
  })

  test('422: a text that cannot be kept as it was sent, within the payload, too; nothing is recorded', async () => {
    await active('unusable')
    const sent = { ...award('u', 7), payload: { steps: ['a\0b'] } }
    const { status, body } = await post('unusable', [award('t', 5), sent])
    expect([status, body.error?.code, body.error?.fields]).toEqual([
      422,
      'validation_failed',
      { 'events[1].payload.steps[0]': 'must not hold the character U+0000' },
    ])
    expect((await post('unusable', [award('\ud83d', 5)])).body.error?.fields).toEqual({
      'events[0].idempotency_key': 'must be valid Unicode: it holds half of a surrogate pair',
    })
    expect((await send('GET', 'unusable')).body.data.cycle_points).toBe(0)
  })

  test('are listed for the operator, with cursors', async () => {
    const { id } = await active('listed')
    await post('listed', [award('a', 1), award('b', 2), award('c', 3)])
    const list = `/admin/v1/organisations/${organisation_id}/memberships/${id}/events?limit=2`
    const read = (cursor = '') => service.send<readonly { points: number }[]>('GET', `${list}${cursor}`)
    const first = await vi.waitFor(async () => {
      const { body } = await read()
      expect(body.data.map(({ points }) => points)).toEqual([1, 2])
      expect(body.next_cursor).toEqual(expect.any(String))
      return body
    })
    const rest = await read(`&cursor=${String(first.next_cursor)}`)
    expect(rest.body.data.map(({ points }) => points)).toEqual([3])
    expect(rest.body.next_cursor).toBeNull()
    const found = `/admin/v1/organisations/${organisation_id}/memberships?external_member_ref=listed`
    const { body } = await service.send<readonly ShownMembership[]>('GET', found)
    expect(body.data.map((each) => each.id)).toEqual([id])
  })
})

test('422: the operator enrols nobody who is no person of the organisation', async () => {
  const path = `/admin/v1/organisations/${organisation_id}/programmes/${programme_id}/memberships`
  const body = { policy_number: 'P-of-nobody', customer_id: 'c0000000-0000-4000-8000-0000000000ff' }
  const { status, body: answer } = await service.send<ShownMembership>('POST', path, { body })
  expect([status, answer.error?.fields]).toEqual([422, { customer_id: 'is no person of the organisation' }])
})

describe('a reference is unique in its programme', () => {
  test('409: two confirmations at once with one reference, and one wins', async () => {
    const two = await Promise.all([enrolled(), enrolled()])
    const answers = await Promise.all(
      two.map(({ id }) => send('PATCH', id, { status: 'active', external_member_ref: 'contested' })),
    )
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([200, 409])
    expect(answers.find(({ status }) => status === 409)?.body.error?.code).toBe('external_member_ref_mismatch')
    const winner = answers.find(({ status }) => status === 200)?.body.data.id
    expect((await send('GET', 'contested')).body.data.id).toBe(winner)
  })

  test('two confirmations of one member with different references: one is fixed, the other is free again', async () => {
    const { id } = await enrolled()
    const answers = await Promise.all(
      ['left', 'right'].map((external_member_ref) => send('PATCH', id, { status: 'active', external_member_ref })),
    )
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([200, 409])
    const fixed = (await send('GET', id)).body.data.external_member_ref
    const free = fixed === 'left' ? 'right' : 'left'
    expect((await active(free)).external_member_ref).toBe(free)
  })
})
