import type { Decider } from '../decider.ts'
import type { OrganisationId } from '../values.ts'
import { deliverySettingsEvents } from './events.ts'
import { noDeliverySettings, type DeliverySettings } from './record.ts'

export type DeliverySettingsCommand = {
  readonly type: 'ChangeDeliverySettings'
  readonly organisation_id: OrganisationId
  readonly connection_id: string
  readonly settings: DeliverySettings
}

export const deliverySettings: Decider<DeliverySettingsCommand, typeof deliverySettingsEvents, DeliverySettings> = {
  category: 'delivery_settings',
  events: deliverySettingsEvents,
  initialState: noDeliverySettings,
  decide: ({ organisation_id, connection_id, settings }, before) =>
    isSame(settings, before) ? [] : [{ type: 'DeliverySettingsChanged', organisation_id, connection_id, ...settings }],
  evolve: (_before, { per_second, at_once, in_order, disable_after_minutes }) => ({
    per_second,
    at_once,
    in_order,
    disable_after_minutes,
  }),
}

const isSame = (one: DeliverySettings, other: DeliverySettings): boolean =>
  one.per_second === other.per_second &&
  one.at_once === other.at_once &&
  one.in_order === other.in_order &&
  one.disable_after_minutes === other.disable_after_minutes
