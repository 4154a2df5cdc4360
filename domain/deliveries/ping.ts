import type { Decider } from '../decider.ts'
import type { OrganisationId } from '../values.ts'
import { deliveryPingEvents } from './events.ts'

export type DeliveryPingCommand = {
  readonly type: 'PingConnection'
  readonly organisation_id: OrganisationId
  readonly connection_id: string
  readonly endpoint: string | null
}

export const deliveryPing: Decider<DeliveryPingCommand, typeof deliveryPingEvents, { readonly sent: boolean }> = {
  category: 'delivery_ping',
  events: deliveryPingEvents,
  initialState: { sent: false },
  decide: ({ organisation_id, connection_id, endpoint }, { sent }) =>
    sent ? [] : [{ type: 'ConnectionPinged', organisation_id, connection_id, endpoint }],
  evolve: () => ({ sent: true }),
}
