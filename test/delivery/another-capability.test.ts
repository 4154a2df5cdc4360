import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { event } from '#domain/event.ts'
import { OwnError } from '#domain/own-error.ts'
import { startReceiver } from '../../demo/receiver.ts'
import { capabilities } from '../../delivery-worker/capabilities.ts'
import { actionKind, subjectKind, type ActionFacts, type Capabilities } from '../../delivery-worker/capability.ts'
import { organisation_id } from './applications.ts'
import { deliveryFixture, eventually, secret } from './fixture.ts'

/** A capability that the core has never heard of: parcels, and actions that tell of them. */
const parcelEvents = { ParcelSent: event({ weight_grams: z.int() }) }
const parcelActionEvents = { ParcelActionCreated: event({ connection_id: z.uuid(), heavier_than_grams: z.int() }) }

const parcels = subjectKind<typeof parcelEvents, { readonly weight_grams: number }>({
  type: 'parcel',
  categories: ['parcel'],
  events: parcelEvents,
  readModels: [],
  idOf: (_event, { stream }) => stream.slice('parcel-'.length),
  remember: (_facts, { weight_grams }) => ({ weight_grams }),
  people: () => [],
  happening: () => ({ type: 'parcel.sent', payload: {} }),
  readSnapshots: async (pool, subjects) => {
    const { rows } = await pool.query<{ id: string }>('select unnest($1::uuid[]) as id', [subjects.map(({ id }) => id)])
    const found = new Set(rows.map(({ id }) => id))
    return (id) => {
      if (id === broken) throw new OwnError('This parcel cannot be shown.')
      return found.has(id) ? { parcel: { id } } : undefined
    }
  },
})
const broken = randomUUID()

type Facts = ActionFacts & { readonly connection_id: string; readonly heavier_than_grams: number }
const parcelActions = actionKind<typeof parcelActionEvents, Facts>({
  type: 'parcel_action',
  categories: ['parcel_action'],
  events: parcelActionEvents,
  learn: (_facts, { connection_id, heavier_than_grams }) => ({
    connection_id,
    heavier_than_grams,
    active: true,
    removed: false,
  }),
  parts: ({ connection_id }, action_id) => [{ action_id, connection_id }],
  asksFor: ({ heavier_than_grams }, { facts }) => Number(facts['weight_grams']) > heavier_than_grams,
  message: ({ heavier_than_grams }, { event_id, type }) => ({ id: event_id, type, heavier_than_grams }),
})

const withParcels: Capabilities = {
  ...capabilities,
  subjects: [...capabilities.subjects, parcels],
  actions: [...capabilities.actions, parcelActions],
}

const parcelWorld = async () => {
  const fixture = await deliveryFixture()
  const hooks = await startReceiver({ secret })
  const { endpoint_connection_id: connection_id } = await fixture.setUp(hooks.url, ['application.started'])
  await fixture.append(parcelActionEvents, `parcel_action-${randomUUID()}`, [
    { type: 'ParcelActionCreated', connection_id, heavier_than_grams: 100 },
  ])
  return {
    ...fixture,
    hooks,
    send: (id: string, weight_grams: number) =>
      fixture.append(parcelEvents, `parcel-${id}`, [{ type: 'ParcelSent', weight_grams }], organisation_id),
    [Symbol.asyncDispose]: async () => {
      await hooks.close()
      await fixture[Symbol.asyncDispose]()
    },
  }
}

test('a capability plugs in with its own names, bodies, snapshots and actions', async () => {
  await using own = await parcelWorld()
  await own.startWorker({ capabilities: withParcels })
  const [light, heavy] = [randomUUID(), randomUUID()]

  await own.send(light, 100)
  const { ids } = await own.send(heavy, 101)
  await own.hooks.untilReceived(1)

  expect(own.hooks.received).toEqual([
    { id: ids[0], type: 'parcel.sent', heavier_than_grams: 100, parcel: { id: heavy } },
  ])
  expect(await own.deliveries()).toMatchObject([{ subject_type: 'parcel', subject_id: heavy }])
})

test('a body that cannot be made holds up nothing else of its batch, and uses up none of the five attempts', async () => {
  await using own = await parcelWorld()
  const good = Array.from({ length: 5 }, () => randomUUID())
  for (const id of [...good.slice(0, 2), broken, ...good.slice(2)]) await own.send(id, 500)

  await own.startWorker({ capabilities: withParcels })
  await own.hooks.untilReceived(5)
  await eventually(async () => (await own.attempts()).length >= 6)

  const pending = (await own.deliveries()).filter(({ state }) => state === 'pending')
  expect(pending).toMatchObject([{ subject_id: broken, sent: 0, unsent: 1 }])
  expect((await own.attempts()).filter(({ outcome }) => outcome === 'not_sent')).toMatchObject([
    { reason: 'not sent: This parcel cannot be shown.' },
  ])
})
