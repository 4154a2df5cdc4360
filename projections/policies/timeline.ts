import { policyStreamEvents } from '#domain/policies/record.ts'
import { timelineOf } from '../timeline.ts'

/** Everything that ever happened to a policy. */
export const policyTimeline = timelineOf({
  name: 'policy_timeline',
  version: 10,
  category: 'policy',
  events: policyStreamEvents,
})
