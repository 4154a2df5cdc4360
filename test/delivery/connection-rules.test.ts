import { describe, expect, test } from 'vitest'
import {
  DeliveryRecoveryId,
  type DeliveryRecoveryEvent,
  type DeliverySettingsEvent,
} from '#domain/deliveries/events.ts'
import { deliveryPing } from '#domain/deliveries/ping.ts'
import { noDeliverySettings, type DeliverySettings } from '#domain/deliveries/record.ts'
import { deliveryRecovery } from '#domain/deliveries/recovery.ts'
import { deliverySettings } from '#domain/deliveries/settings.ts'
import { organisation_id } from '../applications/release.ts'
import { rejected, scenariosOf } from '../scenario.ts'

const connection_id = 'c1000000-0000-4000-8000-000000000001'

describe('how deliveries are sent over a connection', () => {
  const scenario = scenariosOf(deliverySettings)
  const set: DeliverySettings = { per_second: 10, at_once: 4, in_order: true, disable_after_minutes: 60 }
  const change = (settings: Partial<DeliverySettings>) =>
    ({ type: 'ChangeDeliverySettings', organisation_id, connection_id, settings }) as const
  const changed = (settings: DeliverySettings): DeliverySettingsEvent => ({
    type: 'DeliverySettingsChanged',
    organisation_id,
    connection_id,
    ...settings,
  })

  test('is without limits of its own, in any order, and never disabled, unless the operator says otherwise', () => {
    expect(noDeliverySettings).toEqual({
      per_second: null,
      at_once: null,
      in_order: false,
      disable_after_minutes: null,
    })
  })
  scenario('is what the operator chooses', { given: [], when: change(set), then: [changed(set)] })
  scenario('keeps what is left out as it is by then, whoever has changed it meanwhile', {
    given: [changed(set)],
    when: change({ in_order: false, at_once: null }),
    then: [changed({ ...set, in_order: false, at_once: null })],
  })
  scenario('does not change when it is chosen as it is from the beginning', {
    given: [],
    when: change(noDeliverySettings),
    then: [],
  })
  scenario('does not change when it is chosen as it was last', { given: [changed(set)], when: change(set), then: [] })
  for (const other of [{ per_second: 11 }, { at_once: 5 }, { in_order: false }, { disable_after_minutes: null }])
    scenario(`changes when only this does: ${JSON.stringify(other)}`, {
      given: [changed(set)],
      when: change({ ...set, ...other }),
      then: [changed({ ...set, ...other })],
    })
})

describe('a connection that the operator tries', () => {
  const scenario = scenariosOf(deliveryPing)
  const ping = { type: 'PingConnection', organisation_id, connection_id, endpoint: 'contacts' } as const
  const pinged = { ...ping, type: 'ConnectionPinged' } as const

  scenario('is sent one delivery', { given: [], when: ping, then: [pinged] })
  scenario('is sent no second one for the same request', { given: [pinged], when: ping, then: [] })
})

describe('deliveries that are asked for again', () => {
  const scenario = scenariosOf(deliveryRecovery)
  const asked = {
    delivery_recovery_id: DeliveryRecoveryId.parse('d1000000-0000-4000-8000-000000000001'),
    organisation_id,
    delivery_id: null,
    connection_id,
    types: ['lead.created'],
    states: ['failed', 'cancelled'],
    since: '2026-01-01T00:00:00.000Z',
    until: null,
    per_second: 10,
    enables: true,
  } satisfies Omit<DeliveryRecoveryEvent, 'type'>
  const requested: DeliveryRecoveryEvent = { type: 'DeliveryRecoveryRequested', ...asked }

  scenario('are those that the operator named', {
    given: [],
    when: { type: 'RequestDeliveryRecovery', asked },
    then: [requested],
  })
  scenario('are sent once for one request', {
    given: [requested],
    when: { type: 'RequestDeliveryRecovery', asked },
    then: [],
  })
  scenario('are not others under the same id, which are named as the request has them', {
    given: [requested],
    when: { type: 'RequestDeliveryRecovery', asked: { ...asked, per_second: 20, connection_id: null, enables: false } },
    then: rejected(
      'idempotency_key_conflict',
      {
        connection_id: 'differs from what the key started',
        per_second: 'differs from what the key started',
        missed: 'differs from what the key started',
      },
      'This idempotency key already sent deliveries again with another connection_id, per_second, missed. Use a new key.',
    ),
  })
})
