import type { Decider } from '../decider.ts'
import { deliveryRecoveryEvents, type DeliveryRecoveryEvent } from './events.ts'

type Requested = Omit<DeliveryRecoveryEvent, 'type'>

export type DeliveryRecoveryCommand = { readonly type: 'RequestDeliveryRecovery'; readonly asked: Requested }

/** What was asked for under an id stays: the same request again asks for nothing more. */
export const deliveryRecovery: Decider<DeliveryRecoveryCommand, typeof deliveryRecoveryEvents, Requested | undefined> =
  {
    category: 'delivery_recovery',
    events: deliveryRecoveryEvents,
    initialState: undefined,
    decide: ({ asked }, before) => (before ? [] : [{ type: 'DeliveryRecoveryRequested', ...asked }]),
    evolve: (_before, { type: _type, ...asked }) => asked,
  }
