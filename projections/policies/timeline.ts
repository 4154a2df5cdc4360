import { policyEvents } from '#domain/policies/events.ts'
import { timelineOf } from '../timeline.ts'

/** Everything that ever happened to a policy. */
export const policyTimeline = timelineOf({
  name: 'policy_timeline',
  version: 3,
  category: 'policy',
  events: policyEvents,
})
