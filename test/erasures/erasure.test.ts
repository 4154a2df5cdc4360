import { describe, expect, test } from 'vitest'
import { erasure, type ErasureCommand, type ErasureState } from '#domain/erasures/erasure.ts'
import type { ErasureEvent } from '#domain/erasures/events.ts'
import { previewErasure, type Hindrance } from '#domain/erasures/hindrances.ts'
import { phoneDigits } from '#domain/phone-digits.ts'
import { Rejection } from '#domain/rejection.ts'
import { CustomerId, OrganisationId } from '#domain/values.ts'

const organisation_id = OrganisationId.parse('6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f')
const contact_id = CustomerId.parse('c0000000-0000-4000-8000-000000000001')
const at = { occurred_at: '2026-01-15T12:00:00.000Z' }
const later = '2026-01-16T12:00:00.000Z'
const streams = (count: number) => Array.from({ length: count }, () => `ingest-${crypto.randomUUID()}`).toSorted()
const request = (named: readonly string[]): ErasureCommand => ({
  type: 'RequestErasure',
  organisation_id,
  contact_id,
  requested_by: 'office',
  hindrances: [],
  streams: named,
})

const streamsIn = (event: ErasureEvent) => ('streams' in event ? event.streams : [])

const inForce: Hindrance = { why: 'policy_in_force', record: { type: 'policy', id: crypto.randomUUID() } }

const decide = (command: ErasureCommand, state: ErasureState | undefined) => {
  const events = erasure.decide(command, state)
  return { events, state: events.reduce((before, event) => erasure.evolve(before, event, at), state) }
}

describe('an erasure', () => {
  test('409 conflict: the person has a policy that is in force, for which their details are needed', () => {
    const asked = { ...request([]), hindrances: [inForce] } as ErasureCommand

    expect(() => decide(asked, undefined)).toThrow(
      new Rejection(
        'conflict',
        'The person has a policy that is in force, a claim that is not settled, a refund that is owed, or a complaint that is not closed, for which their details are needed. Cancel the policy first, or wait until it has ended, settle or close the claim, retry or close the refund, and close the complaint.',
      ),
    )
    expect(() => decide(asked, undefined)).toThrow(expect.objectContaining({ code: 'conflict' }))
  })

  test('that nobody has asked for is not confirmed', () => {
    const erased = { type: 'PersonErased', contact_id, streams: streams(1), more_follow: false } as const

    expect(decide({ type: 'ConfirmErasure', streams: streams(1) }, undefined).events).toEqual([])
    expect(erasure.evolve(undefined, erased, at)).toBeUndefined()
  })

  test('that nobody has asked for by hand is given up before a key is destroyed, and may be asked for again', () => {
    const giveUp = { type: 'GiveUpErasure', because: 'No period is set any more.' } as const
    const byHand = decide(request([]), undefined).state
    const byItself = decide({ ...request([]), requested_by: null } as ErasureCommand, undefined).state
    const erased = decide({ type: 'ConfirmErasure', streams: [] }, byItself).state
    const { events, state } = decide(giveUp, byItself)

    expect(decide(giveUp, byHand).events).toEqual([])
    const begun = decide({ type: 'ConfirmErasure', streams: streams(1_001) }, byItself).state
    expect(begun?.record.erased_at).toBeNull()
    expect(decide(giveUp, begun).events).toEqual([])
    expect(decide(giveUp, erased).events).toEqual([])
    expect(events).toEqual([
      { type: 'PersonErasureGivenUp', organisation_id, contact_id, because: 'No period is set any more.' },
    ])
    expect(state?.record).toMatchObject({ given_up_at: at.occurred_at, erased_at: null, because: giveUp.because })
    expect(decide(giveUp, state).events).toEqual([])
    expect(decide({ type: 'ConfirmErasure', streams: [] }, state).events).toEqual([])
    const again = decide(request([]), state)
    expect(again.events).toHaveLength(1)
    expect(again.state?.record).toMatchObject({ requested_by: 'office', given_up_at: null, because: null })
  })

  test('that nobody has asked for by hand is asked for by hand while it is under way, and is not given up any more', () => {
    const byItself = decide({ ...request([]), requested_by: null } as ErasureCommand, undefined).state
    const { events, state } = decide(request([]), byItself)

    expect(events).toMatchObject([{ type: 'PersonErasureRequested', requested_by: 'office' }])
    expect(state?.record).toMatchObject({ requested_by: 'office', given_up_at: null })
    expect(decide({ type: 'GiveUpErasure', because: 'No period is set any more.' }, state).events).toEqual([])
    expect(decide({ ...request([]), requested_by: 'another' } as ErasureCommand, state).events).toEqual([])
    expect(decide({ ...request([]), requested_by: null } as ErasureCommand, state).events).toEqual([])
    expect(decide({ ...request([]), requested_by: null } as ErasureCommand, byItself).events).toEqual([])
    const erased = decide({ type: 'ConfirmErasure', streams: [] }, byItself).state
    expect(decide(request([]), erased).events).toEqual([])
    const hindered = { ...request([]), hindrances: [inForce] } as ErasureCommand
    expect(() => decide(hindered, byItself)).toThrow(Rejection)
  })

  test('is of all that is found later, too', () => {
    const [first, second] = streams(2)
    const confirm = (named: readonly (string | undefined)[]) =>
      ({ type: 'ConfirmErasure', streams: named.filter((each) => each !== undefined) }) as const
    const { state } = decide(confirm([first]), decide(request([]), undefined).state)

    expect(decide(confirm([first, second]), state).events).toEqual([
      { type: 'PersonErased', contact_id, streams: [second], more_follow: false },
    ])
  })

  test('was asked for when it was asked for first', () => {
    const { events, state } = decide(request(streams(1)), undefined)
    const again = events.reduce((before, event) => erasure.evolve(before, event, { occurred_at: later }), state)

    expect(again?.record).toMatchObject({ requested_at: at.occurred_at, requested_by: 'office', erased_at: null })
  })

  test('of whom 2,500 records name is requested and confirmed in events of at most 100 of them, each once', () => {
    const named = streams(2_500)
    const requested = decide(request(named), undefined)
    expect(requested.events.flatMap((event) => streamsIn(event))).toEqual(named)
    expect(Math.max(...requested.events.map((event) => streamsIn(event).length))).toBe(100)

    const told: string[] = []
    let { state } = requested
    for (let appends = 0; ; appends++) {
      const confirmed = decide({ type: 'ConfirmErasure', streams: named }, state)
      if (confirmed.events.length === 0) {
        expect(appends).toBe(3)
        break
      }
      expect(confirmed.events.length).toBeLessThanOrEqual(10)
      told.push(...confirmed.events.flatMap((event) => streamsIn(event)))
      state = confirmed.state
      // Only the last one says that all is done.
      expect(state?.record.erased_at).toBe(told.length === named.length ? at.occurred_at : null)
    }
    expect(told).toEqual(named)
    expect(state?.record).toMatchObject({
      records: 2_500,
      records_of_type: { ingest: 2_500 },
      erased_at: at.occurred_at,
    })
  })

  test('of somebody of whom nothing tells is confirmed once', () => {
    const { state } = decide(request([]), undefined)
    const confirmed = decide({ type: 'ConfirmErasure', streams: [] }, state)

    expect(confirmed.events).toEqual([{ type: 'PersonErased', contact_id, streams: [], more_follow: false }])
    expect(decide({ type: 'ConfirmErasure', streams: [] }, confirmed.state).events).toEqual([])
    expect(decide(request([]), confirmed.state).events).toEqual([])
  })
})

describe('the preview of an erasure', () => {
  const application = `application-${crypto.randomUUID()}`

  test('counts what goes by its type, and says what stays, money and the other person of a sale too', () => {
    const { may_be_erased, hindrances, goes, remains } = previewErasure({
      contact_id,
      hindrances: [],
      streams: [`lead-${contact_id}`, application, ...streams(2)],
    })

    expect({ may_be_erased, hindrances, goes }).toEqual({
      may_be_erased: true,
      hindrances: [],
      goes: { lead: 1, application: 1, ingest: 2 },
    })
    expect(remains.map(({ what }) => what).join()).toMatch(/Amounts.*cover for two.*Digests.*audit log.*shown/)
  })

  test('names what is in the way, and what to do about it', () => {
    const { may_be_erased, hindrances } = previewErasure({ contact_id, hindrances: [inForce], streams: [] })

    expect(may_be_erased).toBe(false)
    expect(hindrances).toEqual([{ ...inForce, advice: expect.stringContaining('Cancel it first') as string }])
  })

  test('says nothing of money where nothing was sold', () => {
    const { remains } = previewErasure({ contact_id, hindrances: [], streams: streams(1) })

    expect(remains.map(({ what }) => what).join()).not.toMatch(/Amounts|cover for two/)
  })
})

test.each([
  ['07700 900321', '700900321'],
  ['+44 (0)7700 900-321', '700900321'],
  ['00447700900321', '700900321'],
  ['call me', null],
  [null, null],
])('the digits of %s are %s', (written, digits) => {
  expect(phoneDigits(written)).toBe(digits)
})
