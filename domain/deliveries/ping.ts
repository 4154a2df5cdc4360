import type { Decider } from '../decider.ts'
import type { OrganisationId } from '../values.ts'
import { deliveryPingEvents } from './events.ts'

export type DeliveryPingCommand = {
  readonly type: 'PingConnection'
  readonly organisation_id: OrganisationId
  readonly connection_id: string
  readonly endpoint: string | null
}

export const deliveryPing: Decider<DeliveryPingCommand, typeof deliveryPingEvents, boolean> = {
  category: 'delivery_ping',
  events: deliveryPingEvents,
  initialState: false,
  decide: ({ organisation_id, connection_id, endpoint }, isSent) =>
    isSent ? [] : [{ type: 'ConnectionPinged', organisation_id, connection_id, endpoint }],
  evolve: () => true,
}
