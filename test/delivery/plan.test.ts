import fc from 'fast-check'
import { expect, test } from 'vitest'
import { organisationEvents } from '#domain/access/events.ts'
import { applicationEvents } from '#domain/applications/events.ts'
import type { EventOf, EventShapes, Position, RecordedEvent } from '#domain/event.ts'
import { endpointConnectionEvents, EndpointConnectionId } from '#domain/integrations/events.ts'
import { ApplicationId } from '#domain/values.ts'
import { lifecycleActionEvents, LifecycleActionId } from '#domain/workflows/events.ts'
import { capabilities } from '../../delivery-worker/capabilities.ts'
import type { SetUpRecord } from '../../delivery-worker/planning/knowledge.ts'
import { makePlan, type PlannedDelivery } from '../../delivery-worker/planning/plan.ts'
import { inStreamOrder, recorded } from '../recorded.ts'
import { applicationStarted, organisation_id } from './applications.ts'

const nth = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`

const happened = <Shapes extends EventShapes>(
  shapes: Shapes,
  stream: string,
  event: EventOf<Shapes>,
): RecordedEvent => {
  const [only] = recorded(shapes, stream, [event], { organisation_id })
  if (!only) throw new Error('nothing was recorded')
  return only
}

const connection = EndpointConnectionId.parse(nth(1))
const connectionStream = `endpoint_connection-${connection}`
const connected = () =>
  happened(endpointConnectionEvents, connectionStream, {
    type: 'EndpointConnectionCreated',
    endpoint_connection_id: connection,
    organisation_id,
    name: 'CRM',
    base_url: 'https://crm.example.com/',
    sealed_secret: 'sealed',
  })
const disconnected = () =>
  happened(endpointConnectionEvents, connectionStream, { type: 'EndpointConnectionRemoved', name: 'CRM' })

const choices = (active: boolean) => ({
  product_id: null,
  event_types: ['application.abandoned' as const],
  endpoint_connection_id: connection,
  active,
})
const acting = (number: number) =>
  happened(lifecycleActionEvents, `lifecycle_action-${nth(10 + number)}`, {
    type: 'LifecycleActionCreated',
    lifecycle_action_id: LifecycleActionId.parse(nth(10 + number)),
    organisation_id,
    name: `Action ${number}`,
    ...choices(true),
  })
const switched = (number: number, active: boolean) =>
  happened(lifecycleActionEvents, `lifecycle_action-${nth(10 + number)}`, {
    type: 'LifecycleActionChanged',
    ...choices(active),
  })
const organisation = (type: 'OrganisationActivated' | 'OrganisationDeactivated') =>
  happened(organisationEvents, `organisation-${organisation_id}`, { type, organisation_id })
const renamed = () =>
  happened(organisationEvents, `organisation-${organisation_id}`, {
    type: 'OrganisationChanged',
    organisation_id,
    name: 'New name',
    currency_code: 'GBP',
    time_zone: 'Europe/London',
    stripe_test_mode: false,
  })

const applicationStream = `application-${nth(20)}`
const started = () => happened(applicationEvents, applicationStream, applicationStarted(ApplicationId.parse(nth(20))))
const abandoned = () =>
  happened(applicationEvents, applicationStream, {
    type: 'ApplicationAbandoned',
    reason: 'inactive',
    superseded_by: null,
  })

/** What is pending or cancelled after a log was planned in these batches, by event and action. */
const outcomeOf = (batches: readonly (readonly RecordedEvent[])[]) => {
  const known = new Map<string, SetUpRecord>()
  let deliveries: PlannedDelivery[] = []
  for (const batch of batches) {
    const plan = makePlan(capabilities, [...known.values()], batch)
    for (const { of, id, reason } of plan.cancellations)
      deliveries = deliveries.map((each) => {
        const ids = { action: each.action_id, connection: each.connection_id, organisation: each.organisation_id }
        return ids[of] === id && each.cancelled === null ? { ...each, cancelled: reason } : each
      })
    deliveries.push(...plan.deliveries)
    for (const each of plan.learned) known.set(`${each.kind} ${each.id}`, each)
  }
  return deliveries.map(({ id, event_id, action_id, cancelled }) => ({ id, event_id, action_id, cancelled }))
}

const cancelledAfter = (...log: readonly RecordedEvent[]) =>
  outcomeOf([inStreamOrder(log)]).map(({ cancelled }) => cancelled)

test('an action is for the events after it, within one batch too', () => {
  const before = abandoned()
  const after = abandoned()

  const planned = outcomeOf([inStreamOrder([connected(), started(), before, acting(1), after])])

  expect(planned.map(({ event_id }) => event_id)).toEqual([after.id])
})

test('an event of a subject that comes again is planned once, and changes nothing that is remembered', () => {
  const set = [connected(), acting(1)] as const
  const happenings = inStreamOrder([started(), abandoned(), abandoned()])

  const once = outcomeOf([[...set, ...happenings]])

  expect(once).toHaveLength(2)
  expect(outcomeOf([[...set, ...happenings], happenings, happenings.slice(1), happenings.slice(2)])).toEqual(once)
})

test('what was set up elsewhere counts from where it happened, before, within and after the batch', () => {
  const [begun, early, late] = inStreamOrder([started(), abandoned(), abandoned()])
  const known = makePlan(capabilities, [], [connected()]).learned
  const [first] = makePlan(capabilities, [], [acting(1)]).learned
  const [off] = makePlan(capabilities, [], [acting(1), switched(1, false)]).learned
  if (!begun || !early || !late || !first || !off) throw new Error('Something is missing.')
  const at = (position: string, event: RecordedEvent) => ({ ...event, position: position as Position })
  const batch = [at('10', begun), at('20', early), at('30', late)]
  const planned = (...changes: { readonly position: string; readonly after: SetUpRecord }[]) =>
    makePlan(capabilities, known, batch, changes).deliveries.map(({ event_id, cancelled }) => [event_id, cancelled])

  expect(planned({ position: '15', after: first })).toEqual([
    [early.id, null],
    [late.id, null],
  ])
  expect(planned({ position: '25', after: first })).toEqual([[late.id, null]])
  expect(planned({ position: '40', after: first })).toEqual([])
  expect(planned({ position: '15', after: first }, { position: '40', after: off })).toEqual([
    [early.id, 'action_inactive'],
    [late.id, 'action_inactive'],
  ])
})

test('an action that is switched off sends nothing more, and on again sends what comes then', () => {
  const set = [connected(), acting(1), started()] as const

  expect(cancelledAfter(...set, abandoned(), switched(1, false), abandoned())).toEqual(['action_inactive'])
  expect(cancelledAfter(...set, switched(1, false), abandoned(), switched(1, true), abandoned())).toEqual([null])
})

test('what happens without a connection, or while the organisation is not active, is cancelled at once', () => {
  expect(cancelledAfter(connected(), acting(1), started(), disconnected(), abandoned())).toEqual(['connection_removed'])
  const inactive = [connected(), acting(1), started(), organisation('OrganisationDeactivated'), renamed(), abandoned()]
  expect(cancelledAfter(...inactive)).toEqual(['organisation_inactive'])
  expect(cancelledAfter(...inactive, organisation('OrganisationActivated'), abandoned())).toEqual([
    'organisation_inactive',
    null,
  ])
})

test('an event about something that never began stops the planner instead of being skipped', () => {
  expect(() => makePlan(capabilities, [], [abandoned()])).toThrow('its application never began')
})

test('in whatever batches a log is planned, the same deliveries come of it', () => {
  const setUp = [connected(), started(), acting(1), acting(2)]
  const steps = [
    abandoned,
    abandoned,
    abandoned,
    () => switched(1, false),
    () => switched(1, true),
    () => switched(2, false),
    () => switched(2, true),
    () => organisation('OrganisationDeactivated'),
    () => organisation('OrganisationActivated'),
    disconnected,
    connected,
  ]
  const anyLog = fc
    .array(fc.constantFrom(...steps), { minLength: 1, maxLength: 25 })
    .map((made) => made.map((step) => step()))

  fc.assert(
    fc.property(anyLog, fc.array(fc.integer({ min: 1, max: 28 })), (happenings, cuts) => {
      const log = inStreamOrder([...setUp, ...happenings])
      const ends = [...cuts.toSorted((one, other) => one - other), log.length]
      const batches = ends.map((end, index) => log.slice(ends[index - 1] ?? 0, end)).filter((batch) => batch.length > 0)

      expect(outcomeOf(batches)).toEqual(outcomeOf([log]))
    }),
  )
})
