import { applicationStreamEvents } from '#domain/applications/record.ts'
import { timelineOf } from '../timeline.ts'

/** Everything that ever happened to an application, its quotes and payments among it. */
export const applicationTimeline = timelineOf({
  name: 'application_timeline',
  version: 2,
  category: 'application',
  events: applicationStreamEvents,
})
