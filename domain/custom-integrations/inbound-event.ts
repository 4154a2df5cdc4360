import type { Decider } from '../decider.ts'
import { inboundEventEvents, type InboundEventEvent } from './events.ts'

export type AcceptInboundEvent = { readonly type: 'AcceptInboundEvent' } & Omit<InboundEventEvent, 'type'>

/** An event that another system has posted. It is taken in once, with all that follows from it. */
export const inboundEvent: Decider<AcceptInboundEvent, typeof inboundEventEvents, boolean> = {
  category: 'inbound_event',
  events: inboundEventEvents,
  initialState: false,
  decide: (command, isAccepted) => (isAccepted ? [] : [{ ...command, type: 'InboundEventAccepted' }]),
  evolve: () => true,
}
