import type { Decider } from '../decider.ts'
import { differencesOf, refuseOtherContent } from '../same-key.ts'
import { deliveryRecoveryEvents, type DeliveryRecoveryEvent } from './events.ts'

type Requested = Omit<DeliveryRecoveryEvent, 'type'>

export type DeliveryRecoveryCommand = { readonly type: 'RequestDeliveryRecovery'; readonly asked: Requested }

/** As the request has them. */
const inputsOf = ({ organisation_id: _of, delivery_recovery_id: _id, enables: missed, ...asked }: Requested) => ({
  ...asked,
  missed,
})

/** A request under an id stays: the same request again asks for nothing more. */
export const deliveryRecovery: Decider<DeliveryRecoveryCommand, typeof deliveryRecoveryEvents, Requested | undefined> =
  {
    category: 'delivery_recovery',
    events: deliveryRecoveryEvents,
    initialState: undefined,
    decide: ({ asked }, before) => {
      if (!before) return [{ type: 'DeliveryRecoveryRequested', ...asked }]
      refuseOtherContent('sent deliveries again', differencesOf(inputsOf(asked), inputsOf(before)))
      return []
    },
    evolve: (_before, { type: _type, ...asked }) => asked,
  }
