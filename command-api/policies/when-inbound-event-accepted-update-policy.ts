import { inboundEventEvents } from '#domain/custom-integrations/events.ts'
import { idOf } from '#domain/event.ts'
import { policy } from '#domain/policies/policy.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import type { Reaction } from '../reactions/reaction.ts'

const { InboundEventAccepted } = inboundEventEvents

/** Updates about a policy from the firm's own system are recorded on the policy's timeline. */
export const whenInboundEventAcceptedUpdatePolicy = (
  writer: Writer,
): Reaction<{ InboundEventAccepted: typeof InboundEventAccepted }> => {
  const { handle } = commandHandler(writer, policy)
  return {
    name: 'when-inbound-event-accepted-update-policy',
    categories: ['inbound_event'],
    events: { InboundEventAccepted },
    // An event that is news of no policy leads to nothing, so it waits for nobody.
    target: ({ policy_id }, { stream }) => (policy_id === null ? stream : `${policy.category}-${policy_id}`),
    react: async (event, { stream }, context) => {
      const { policy_id, organisation_id, custom_integration_id, integration_connection_id, event_type } = event
      if (policy_id === null) return
      const update = {
        inbound_event_id: idOf(stream),
        custom_integration_id,
        integration_connection_id,
        update_type: event_type,
      }
      await handle(policy_id, { type: 'RecordPolicyUpdate', organisation_id, ...update }, context)
    },
  }
}
