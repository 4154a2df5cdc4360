import { openAiCompatible } from '#infra/lead-reader/openai-compatible.ts'
import type { GuardedHttp } from '#infra/guarded-http.ts'
import type { Leases } from '#infra/consumers/lease.ts'
import type { Parts } from '#infra/parts.ts'
import { makeOutbox } from '#infra/message-channels/outbox.ts'
import { makeSmtp } from '#infra/message-channels/smtp.ts'
import type { OrganisationId } from '#domain/values.ts'
import type { Workflow } from '#domain/workflows/record.ts'
import { isWorking, noSettings } from '#domain/outreach/record.ts'
import type { Directory } from '#domain/access/record.ts'
import type { Route } from '#infra/http/route.ts'
import type { LifecyclePerson } from './lifecycle-people.ts'
import type { SomeReaction } from '../reactions/reaction.ts'
import type { Timer } from '../reactions/timers.ts'
import { makeChannels, type OpenAccount } from './channels.ts'
import { runOutreach, type RunningOutreach } from './dispatch.ts'
import { deterministicWriter, modelWriter, type DraftWriter } from './draft-writer.ts'
import { makeLinks } from './links.ts'
import { outreachMemberRoutes } from './member-routes.ts'
import { outreachStreamRoutes } from './operator-routes.ts'
import { outreachPages, type Withdraw } from './pages.ts'
import { makeOutreachPeople, type OutreachPeopleDeps } from './people.ts'
import { makeQueue } from './queue.ts'
import { whenApplicationStartedNoteLanding } from './when-application-started-note-landing.ts'
import { whenConsentRecordedEndMembership } from './when-consent-recorded-end-membership.ts'
import { whenLeadActivityRecordedCountOutcome } from './when-lead-activity-recorded-count-outcome.ts'
import { whenLeadFactsRecordedRescheduleReminders } from './when-lead-facts-recorded-reschedule-reminders.ts'
import { whenOutreachHappenedRecordActivity } from './when-outreach-happened-record-activity.ts'
import { makeStreams } from './streams.ts'
import { outreachTimers } from './timers.ts'
import {
  whenMessageNewsReceivedNoteUndelivered,
  whenMessageNewsReceivedRecordActivity,
} from './when-message-news-received.ts'
import { whenLeadChangedJoinStreams } from './when-lead-changed-join-streams.ts'
import { whenLifecycleHappenedJoinStreams } from './when-lifecycle-happened-join-streams.ts'
import { makeWork } from './work.ts'

type RouteDeps = OutreachPeopleDeps &
  Pick<Parts, 'keys'> & { readonly directory: Directory; readonly withdraw: Withdraw }

/** Outreach: the way in. */
export const outreachRoutes = (deps: RouteDeps): readonly Route[] => {
  const { writer, directory, live, keys, organisations, withdraw } = deps
  const people = makeOutreachPeople(deps)
  return [
    ...outreachStreamRoutes({ writer, directory }),
    ...outreachMemberRoutes({ people, streams: makeStreams(writer), live }),
    ...outreachPages({ keys, people, live, organisations, withdraw }),
  ]
}

type ReactionDeps = OutreachPeopleDeps &
  Pick<Parts, 'keys'> & {
    readonly workflows: ReadonlyMap<string, Workflow>
    readonly personOf: LifecyclePerson
  }

/** What outreach does about what happens elsewhere. */
export const outreachReactions = (deps: ReactionDeps): readonly SomeReaction[] => {
  const { leads, live, recordOf, keys, workflows, personOf } = deps
  const people = makeOutreachPeople(deps)
  return [
    whenLeadChangedJoinStreams({ people, live, workflows }),
    whenLifecycleHappenedJoinStreams({ people, live, workflows, personOf }),
    whenLeadActivityRecordedCountOutcome(people, live),
    whenLeadFactsRecordedRescheduleReminders(people, live),
    whenApplicationStartedNoteLanding(people, keys),
    whenConsentRecordedEndMembership(people, live, recordOf),
    whenOutreachHappenedRecordActivity(leads, live),
    whenMessageNewsReceivedRecordActivity(leads, live),
    whenMessageNewsReceivedNoteUndelivered(people, live),
  ]
}

export const outreachTimersOf = (deps: OutreachPeopleDeps & Pick<Parts, 'clock'>): readonly Timer[] =>
  outreachTimers({ ...deps, people: makeOutreachPeople(deps), streams: makeStreams(deps.writer) })

type RunDeps = OutreachPeopleDeps &
  Parts & {
    readonly leases: Leases
    readonly openAccount: OpenAccount
    /** For message gateways. */
    readonly http: Pick<GuardedHttp, 'request'>
    /** For writers, which take longer. */
    readonly models: Pick<GuardedHttp, 'request'>
  }

/** Drafts and sends what streams have to do. */
export const startOutreach = (deps: RunDeps): RunningOutreach => {
  const { config, live, keys, openAccount, models, pool } = deps
  const queue = makeQueue(pool)
  const ask = openAiCompatible(models)
  const writerFor = (organisation_id: OrganisationId): DraftWriter => {
    const account = openAccount(organisation_id, 'outreach_writer')
    const settings = live.settings.get(organisation_id) ?? noSettings
    return account ? modelWriter(ask, account, settings) : deterministicWriter
  }
  const outbox = config.ENVIRONMENT === 'production' ? undefined : makeOutbox(deps)
  const sendMail = makeSmtp({ allowedHosts: config.DELIVERY_ALLOWED_HOSTS, allowHttp: config.DELIVERY_ALLOW_HTTP })
  const work = makeWork({
    ...deps,
    queue,
    writerFor,
    streams: makeStreams(deps.writer),
    people: makeOutreachPeople(deps),
    send: makeChannels({ openAccount, http: deps.http, sendMail, outbox }),
    linksOf: makeLinks({ keys, baseUrl: config.BASE_URL }),
  })
  /** As far as this process knows; of one that it does not know yet, more is known when it is read. */
  const canWork = (stream_id: string): boolean => {
    const stream = live.streams.get(stream_id)
    if (!stream) return true
    const isOn = live.settings.get(stream.organisation_id)?.is_on === true
    return isOn && (isWorking(stream) || stream.timing > stream.timing_moved)
  }
  return runOutreach({ ...deps, queue, work, canWork })
}
