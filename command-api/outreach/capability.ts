import type { Capability } from '../capability.ts'
import type { CommandSide } from '../command-side.ts'
import { withdrawBy } from '../customers/withdraw.ts'
import { makeLifecyclePerson } from './lifecycle-people.ts'
import { outreachMemberRoutes } from './member-routes.ts'
import { outreachStreamRoutes } from './operator-routes.ts'
import { outreachPages } from './pages.ts'
import { makeOutreachPeople } from './people.ts'
import { startOutreach } from './start.ts'
import { makeStreams } from './streams.ts'
import { outreachTimers } from './timers.ts'
import { whenApplicationStartedNoteLanding } from './when-application-started-note-landing.ts'
import { whenConsentRecordedEndMembership } from './when-consent-recorded-end-membership.ts'
import { whenLeadActivityRecordedCountOutcome } from './when-lead-activity-recorded-count-outcome.ts'
import { whenLeadChangedJoinStreams } from './when-lead-changed-join-streams.ts'
import { whenLeadFactsRecordedRescheduleReminders } from './when-lead-facts-recorded-reschedule-reminders.ts'
import { whenLifecycleHappenedJoinStreams } from './when-lifecycle-happened-join-streams.ts'
import {
  whenMessageNewsReceivedNoteUndelivered,
  whenMessageNewsReceivedRecordActivity,
} from './when-message-news-received.ts'
import { whenOutreachHappenedRecordActivity } from './when-outreach-happened-record-activity.ts'

const partsOf = (side: CommandSide) => {
  const { writer, people, outreach, directory } = side
  const parts = { ...side, live: outreach, organisations: directory.organisations, recordOf: people.record }
  return { ...parts, people: makeOutreachPeople(parts), streams: makeStreams(writer) }
}

export const outreach: Capability = {
  routes: (side) => [
    ...outreachStreamRoutes(side),
    ...outreachMemberRoutes(partsOf(side)),
    ...outreachPages({ ...partsOf(side), withdraw: withdrawBy('link', side.people) }),
  ],
  work: (side) => {
    const { keys, leads, workflows, writer } = side
    const parts = partsOf(side)
    const { people, live, recordOf } = parts
    return {
      reactions: [
        whenLeadChangedJoinStreams(parts),
        whenLifecycleHappenedJoinStreams({ people, live, workflows, personOf: makeLifecyclePerson(writer) }),
        whenLeadActivityRecordedCountOutcome(people, live),
        whenLeadFactsRecordedRescheduleReminders(people, live),
        whenApplicationStartedNoteLanding(people, keys),
        whenConsentRecordedEndMembership(people, live, recordOf),
        whenOutreachHappenedRecordActivity(leads, live),
        whenMessageNewsReceivedRecordActivity(leads, live),
        whenMessageNewsReceivedNoteUndelivered(people, live),
      ],
      timers: outreachTimers(parts),
      running: startOutreach(side, people),
    }
  },
}
