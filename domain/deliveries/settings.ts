import type { Decider } from '../decider.ts'
import type { OrganisationId } from '../values.ts'
import { deliverySettingsEvents } from './events.ts'
import { noDeliverySettings, type DeliverySettings } from './record.ts'

export type DeliverySettingsCommand = {
  readonly type: 'ChangeDeliverySettings'
  readonly organisation_id: OrganisationId
  readonly connection_id: string
  /** An undefined setting stays as it was. */
  readonly settings: { readonly [Name in keyof DeliverySettings]?: DeliverySettings[Name] | undefined }
}

export const deliverySettings: Decider<DeliverySettingsCommand, typeof deliverySettingsEvents, DeliverySettings> = {
  category: 'delivery_settings',
  events: deliverySettingsEvents,
  initialState: noDeliverySettings,
  decide: ({ organisation_id, connection_id, settings }, before) => {
    const {
      per_second = before.per_second,
      at_once = before.at_once,
      in_order = before.in_order,
      disable_after_minutes = before.disable_after_minutes,
    } = settings
    const after: DeliverySettings = { per_second, at_once, in_order, disable_after_minutes }
    if (isSame(after, before)) return []
    return [{ type: 'DeliverySettingsChanged', organisation_id, connection_id, ...after }]
  },
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
