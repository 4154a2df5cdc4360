import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { organisationEvents, type OrganisationEvent } from '#domain/access/events.ts'
import { event, type EventOf, type Metadata, type RecordedEvent } from '#domain/event.ts'
import { OrganisationId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'
import {
  actionKind,
  connectionKind,
  subjectKind,
  type ActionFacts,
  type Capabilities,
  type ConnectionFacts,
} from '../../delivery-worker/capability.ts'
import { makePlan, recalling } from '../../delivery-worker/planning/plan.ts'
import { inStreamOrder, recorded } from '../recorded.ts'

/** Parcels, actions that tell of heavy ones, and the connections that they go over. */
const parcelEvents = { ParcelSent: event({ grams: z.int() }), ParcelLost: event({ by: z.string() }) }
const actionEvents = {
  ActionSet: event({ connection_id: z.string(), above_grams: z.int(), active: z.boolean() }),
  ActionRemoved: event({ by: z.string() }),
}
const connectionEvents = { ConnectionMade: event({ by: z.string() }), ConnectionRemoved: event({ by: z.string() }) }

type ParcelFacts = { readonly grams: number }
type Facts = ActionFacts & { readonly connection_id: string; readonly above_grams: number }

const unused = (): never => {
  throw new Error('Planning neither reads nor sends.')
}
const capabilities: Capabilities = {
  subjects: [
    subjectKind<typeof parcelEvents, ParcelFacts>({
      type: 'parcel',
      categories: ['parcel'],
      events: parcelEvents,
      readModels: ['parcels', 'vans'],
      idOf: (_event, { stream }) => stream.slice('parcel-'.length),
      remember: (facts, happened) => (happened.type === 'ParcelSent' ? { grams: happened.grams } : facts),
      people: () => [],
      happening: ({ type }, { grams }) => ({ type: `parcel.${type}`, payload: { grams } }),
      readSnapshots: unused,
    }),
  ],
  actions: [
    actionKind<typeof actionEvents, Facts>({
      type: 'parcel_action',
      categories: ['parcel_action'],
      events: actionEvents,
      learn: (facts, set) =>
        set.type === 'ActionRemoved' ? facts && { ...facts, removed: true } : { ...set, removed: false },
      parts: ({ connection_id }, action_id) => [{ action_id, connection_id }],
      asksFor: ({ above_grams }, { facts }) => Number(facts['grams']) > above_grams,
      message: ({ above_grams }, happening) => ({ above_grams, ...happening }),
    }),
  ],
  connections: [
    connectionKind<typeof connectionEvents, ConnectionFacts>({
      type: 'van',
      categories: ['van'],
      events: connectionEvents,
      learn: (_facts, { type }) => ({ removed: type === 'ConnectionRemoved' }),
      request: unused,
    }),
  ],
}

const [acme, other] = ['6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f', '0d9e8c7b-6a5f-4e3d-9c2b-1a0f9e8d7c6b'].map((id) =>
  OrganisationId.parse(id),
) as [OrganisationId, OrganisationId]

const only = (events: readonly RecordedEvent[]): RecordedEvent => {
  const [first] = events
  if (!first) throw new Error('Nothing was recorded.')
  return first
}
const parcel = (happened: EventOf<typeof parcelEvents>, id = 'p', metadata: Partial<Metadata> = {}) =>
  only(recorded(parcelEvents, `parcel-${id}`, [happened], { organisation_id: acme, ...metadata }))
const sent = (grams = 500, id = 'p', organisation_id: string = acme) =>
  parcel({ type: 'ParcelSent', grams }, id, { organisation_id })
const lost = () => parcel({ type: 'ParcelLost', by: 'van' })
const action = (
  changes: Partial<EventOf<Pick<typeof actionEvents, 'ActionSet'>>> = {},
  id = 'a',
  organisation_id: string = acme,
) =>
  only(
    recorded(
      actionEvents,
      `parcel_action-${id}`,
      [{ type: 'ActionSet', connection_id: 'v', above_grams: 100, active: true, ...changes }],
      { organisation_id },
    ),
  )
const actionRemoved = () =>
  only(recorded(actionEvents, 'parcel_action-a', [{ type: 'ActionRemoved', by: 'team' }], { organisation_id: acme }))
const van = (type: keyof typeof connectionEvents = 'ConnectionMade', id = 'v') =>
  only(recorded(connectionEvents, `van-${id}`, [{ type, by: 'team' }], { organisation_id: acme }))
const organisation = (type: 'OrganisationActivated' | 'OrganisationDeactivated', id = acme) =>
  only(
    recorded(organisationEvents, `organisation-${id}`, [{ type, organisation_id: id } satisfies OrganisationEvent], {
      organisation_id: id,
    }),
  )

const planned = (...batch: readonly RecordedEvent[]) => makePlan(capabilities, [], inStreamOrder(batch))
const reasons = (...batch: readonly RecordedEvent[]) => planned(...batch).deliveries.map(({ cancelled }) => cancelled)

test('a delivery holds all that is needed to send it, and its id is that of the event and the action', () => {
  const happened = sent()

  const { deliveries, cancellations } = planned(van(), action(), happened)

  expect(cancellations).toEqual([])
  expect(deliveries).toEqual([
    {
      id: derivedId('delivery', acme, happened.id, 'a'),
      recorded_at: '2026-01-15T12:00:00.000Z',
      organisation_id: acme,
      event_id: happened.id,
      action_id: 'a',
      connection_id: 'v',
      type: 'parcel.ParcelSent',
      stream: 'parcel-p',
      position: happened.position,
      sequence: 0,
      subject_type: 'parcel',
      subject_id: 'p',
      waits_for: ['parcels', 'vans'],
      message: {
        above_grams: 100,
        type: 'parcel.ParcelSent',
        payload: { grams: 500 },
        event_id: happened.id,
        organisation_id: acme,
        occurred_at: '2026-01-15T12:00:00.000Z',
        subject: { type: 'parcel', id: 'p' },
        facts: { grams: 500 },
      },
      cancelled: null,
    },
  ])
})

describe('an event is sent', () => {
  test('once for each action that asks for it', () => {
    const { deliveries } = planned(van(), action(), action({ above_grams: 600 }, 'b'), action({}, 'c'), sent())

    expect(deliveries.map(({ action_id }) => action_id)).toEqual(['a', 'c'])
  })

  test('with what is remembered of the events before it', () => {
    const { deliveries } = planned(van(), action(), sent(), lost())

    expect(deliveries.map(({ type, message }) => [type, message['payload']])).toEqual([
      ['parcel.ParcelSent', { grams: 500 }],
      ['parcel.ParcelLost', { grams: 500 }],
    ])
  })

  test('not for an action of another organisation', () => {
    expect(reasons(van(), action({}, 'a', other), sent())).toEqual([])
    expect(reasons(van(), action(), sent(500, 'p', other))).toEqual([])
  })

  test('not for an action that is off or was removed', () => {
    expect(reasons(van(), action({ active: false }), sent())).toEqual([])
    expect(reasons(van(), action(), actionRemoved(), sent())).toEqual([])
    expect(reasons(van(), action({ active: false }), action(), sent())).toEqual([null])
  })
})

describe('what is planned and not sent says why', () => {
  test('because its action was removed, or is off', () => {
    expect(reasons(van(), action(), sent(), actionRemoved())).toEqual(['action_removed'])
    expect(reasons(van(), action(), sent(), action({ active: false }))).toEqual(['action_inactive'])
    expect(reasons(van(), action(), sent(), action({ above_grams: 900 }))).toEqual([null])
  })

  test('because its connection was removed, or never was', () => {
    expect(reasons(van(), action(), sent(), van('ConnectionRemoved'))).toEqual(['connection_removed'])
    expect(reasons(van(), action(), van('ConnectionRemoved'), sent())).toEqual(['connection_removed'])
    expect(reasons(action(), sent())).toEqual(['connection_removed'])
    expect(reasons(van(), action(), sent(), van())).toEqual([null])
  })

  test('because its organisation is not active', () => {
    expect(reasons(van(), action(), sent(), organisation('OrganisationDeactivated'))).toEqual(['organisation_inactive'])
    expect(reasons(van(), action(), organisation('OrganisationDeactivated'), sent())).toEqual(['organisation_inactive'])
    expect(reasons(van(), action(), organisation('OrganisationActivated'), sent())).toEqual([null])
    expect(reasons(van(), action(), sent(), organisation('OrganisationActivated'))).toEqual([null])
  })

  test('by the first reason', () => {
    expect(reasons(van(), action(), sent(), actionRemoved(), van('ConnectionRemoved'))).toEqual(['action_removed'])
  })

  test('and nothing else is cancelled with it', () => {
    const set = [van(), van('ConnectionMade', 'w'), action(), action({ connection_id: 'w' }, 'b'), sent()] as const

    expect(reasons(...set, actionRemoved())).toEqual(['action_removed', null])
    expect(reasons(...set, van('ConnectionRemoved', 'w'))).toEqual([null, 'connection_removed'])
    expect(reasons(...set, organisation('OrganisationDeactivated', other))).toEqual([null, null])
  })
})

describe('what was planned in earlier batches is cancelled', () => {
  const cancellations = (...batch: readonly RecordedEvent[]) => planned(...batch).cancellations

  test('with its reason, by what happened to its action, its connection or its organisation', () => {
    const [removed, off] = [actionRemoved(), action({ active: false })]
    const [gone, inactive] = [van('ConnectionRemoved'), organisation('OrganisationDeactivated')]
    const organisation_id = acme

    expect(cancellations(van(), action(), removed)).toEqual([
      { of: 'action', id: 'a', organisation_id, position: removed.position, reason: 'action_removed' },
    ])
    expect(cancellations(off)).toEqual([
      { of: 'action', id: 'a', organisation_id, position: off.position, reason: 'action_inactive' },
    ])
    expect(cancellations(gone)).toEqual([
      { of: 'connection', id: 'v', organisation_id, position: gone.position, reason: 'connection_removed' },
    ])
    expect(cancellations(inactive)).toEqual([
      { of: 'organisation', id: acme, organisation_id, position: inactive.position, reason: 'organisation_inactive' },
    ])
  })

  test('by nothing else', () => {
    expect(cancellations(van(), action(), sent(), lost(), organisation('OrganisationActivated'))).toEqual([])
  })
})

test('what was known before counts, and what was learned is told', () => {
  const { learned } = planned(van(), action())
  const happened = sent()

  const next = makePlan(capabilities, learned, [happened])

  expect(next.deliveries).toMatchObject([{ event_id: happened.id, cancelled: null }])
  expect(next.learned).toEqual([
    {
      kind: 'subject',
      type: 'parcel',
      id: 'p',
      organisation_id: acme,
      facts: { grams: 500 },
      stream: 'parcel-p',
      revision: 0,
    },
  ])
})

describe('what was forgotten of a subject is recalled from its stream', () => {
  const at = (recordedEvent: RecordedEvent, revision: number) => ({ ...recordedEvent, revision })
  const recalled = (of: RecordedEvent, ...earlier: readonly RecordedEvent[]) => {
    const { take, known } = recalling(capabilities, of)
    for (const each of earlier) take(each)
    return known()
  }

  test('from the earlier events of that subject only', () => {
    const earlier = [at(sent(300), 0), van(), at(sent(900, 'q'), 1), at(sent(700), 5), at(sent(800), 6)]

    expect(recalled(at(lost(), 5), ...earlier)).toEqual({
      kind: 'subject',
      type: 'parcel',
      id: 'p',
      organisation_id: acme,
      facts: { grams: 300 },
      stream: null,
      revision: null,
    })
  })

  test('and is nothing where it never began, or there is no subject', () => {
    expect(recalled(at(lost(), 5))).toBeUndefined()
    expect(recalled(at(lost(), 5), at(sent(), 5))).toBeUndefined()
    expect(recalled(at(van(), 5), sent())).toBeUndefined()
  })
})
