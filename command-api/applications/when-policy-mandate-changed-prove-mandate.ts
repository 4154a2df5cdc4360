import { application } from '#domain/applications/application.ts'
import { policyEvents } from '#domain/policies/events.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import type { Reaction } from '../reactions/reaction.ts'

const { PolicyMandateChanged } = policyEvents

/** A mandate proven by a collection is recorded with the mandate itself: from there receivers hear of it. */
export const whenPolicyMandateChangedProveMandate = (
  writer: Writer,
): Reaction<{ PolicyMandateChanged: typeof PolicyMandateChanged }> => {
  const { handle } = commandHandler(writer, application)

  return {
    name: 'when-policy-mandate-changed-prove-mandate',
    categories: ['policy'],
    events: { PolicyMandateChanged },
    target: ({ application_id }, { stream }) =>
      application_id === null ? stream : `${application.category}-${application_id}`,
    react: async ({ application_id, mandate_id, status }, _recorded, context) => {
      if (application_id === null || status !== 'active') return
      await handle(application_id, { type: 'ProveMandate', mandate_id }, context)
    },
  }
}
