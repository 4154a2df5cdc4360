import { applicationEvents } from '#domain/applications/events.ts'
import { customerEvents } from '#domain/customers/events.ts'
import { idOf } from '#domain/event.ts'
import { leadEvents } from '#domain/leads/events.ts'
import { outreachPersonEvents, type OutreachOutcome } from '#domain/outreach/events.ts'
import { CustomerId, OrganisationId } from '#domain/values.ts'
import type { Keys } from '#infra/crypto/keys.ts'
import { linkSubjectOf } from '#infra/crypto/link-tokens.ts'
import { derivedId } from '#infra/ids.ts'
import type { Leads } from '../live-leads.ts'
import type { Reaction } from '../reaction.ts'
import { outreachMessageIdOf } from './ids.ts'
import { isGranted, type OutreachPeople, type OutreachPeopleDeps } from './people.ts'
import type { LiveOutreach } from './streams.ts'

const { LeadActivityRecorded, LeadFactsRecorded } = leadEvents
const { ApplicationStarted } = applicationEvents
const { CustomerConsentRecorded } = customerEvents
const { OutreachMessageSent, OutreachSurveyAnswered, OutreachEngaged } = outreachPersonEvents

const outcomes: Readonly<Record<string, OutreachOutcome>> = {
  reply: 'replied',
  booking: 'booked',
  application_started: 'applications',
  policy_bound: 'bound',
}

/** What people do after a message counts for the streams that sent them one. */
export const whenLeadActivityRecordedCountOutcome = (
  people: OutreachPeople,
  live: LiveOutreach,
): Reaction<{ LeadActivityRecorded: typeof LeadActivityRecorded }> => ({
  name: 'when-lead-activity-recorded-count-outcome',
  categories: ['lead'],
  events: { LeadActivityRecorded },
  target: (_event, { stream }) => people.stream(idOf(stream)),
  react: async ({ kind, summary, happened_at }, { stream }, context) => {
    const outcome = outcomes[kind]
    if (!outcome) return
    const contact_id = CustomerId.parse(idOf(stream))
    const { members } = await people.load(contact_id)
    await people.handle(
      contact_id,
      {
        type: 'NoteActivity',
        outcome,
        wrote: kind === 'reply' ? summary : null,
        happened_at,
        streams: (id) => live.streams.get(id),
        messageIdOf: (stream_id, role, number) =>
          outreachMessageIdOf(members[stream_id]?.member_id ?? stream_id, role, number),
      },
      context,
    )
  },
})

/** Who starts an application by the link of a message is engaged. A token that is not ours says nothing. */
export const whenApplicationStartedNoteLanding = (
  people: OutreachPeople,
  keys: Pick<Keys, 'links'>,
): Reaction<{ ApplicationStarted: typeof ApplicationStarted }> => {
  const subjectOf = (token: string | null) => (token === null ? undefined : linkSubjectOf(keys, 'landing', token))
  return {
    name: 'when-application-started-note-landing',
    categories: ['application'],
    events: { ApplicationStarted },
    target: ({ outreach_landing }, { stream }) => {
      const subject = subjectOf(outreach_landing)
      return subject ? people.stream(subject.contact_id) : stream
    },
    react: async ({ outreach_landing }, _recorded, context) => {
      const subject = subjectOf(outreach_landing)
      if (!subject || subject.organisation_id !== context.organisation_id) return
      const { contact_id, stream_id } = subject
      await people.handle(contact_id, { type: 'NoteLanding', stream_id }, context)
    },
  }
}

/** Who withdraws consent leaves the streams that they cannot be sent anything of any more. */
export const whenConsentRecordedEndMembership = (
  people: OutreachPeople,
  live: LiveOutreach,
  recordOf: OutreachPeopleDeps['recordOf'],
): Reaction<{ CustomerConsentRecorded: typeof CustomerConsentRecorded }> => ({
  name: 'when-consent-recorded-end-membership',
  categories: ['customer'],
  events: { CustomerConsentRecorded },
  target: (_event, { stream }) => people.stream(idOf(stream)),
  react: async (_event, { stream }, context) => {
    const contact_id = CustomerId.parse(idOf(stream))
    const known = await recordOf(OrganisationId.parse(context.organisation_id), contact_id)
    await people.handle(
      contact_id,
      {
        type: 'NoteConsent',
        streams: (id) => live.streams.get(id),
        isGranted: (purpose, channel) => isGranted(known?.consent ?? [], purpose, channel),
      },
      context,
    )
  },
})

/** A date of the lead moves, earlier or later: the reminders that are relative to it move with it. */
export const whenLeadFactsRecordedRescheduleReminders = (
  people: OutreachPeople,
  live: LiveOutreach,
): Reaction<{ LeadFactsRecorded: typeof LeadFactsRecorded }> => ({
  name: 'when-lead-facts-recorded-reschedule-reminders',
  categories: ['lead'],
  events: { LeadFactsRecorded },
  target: (_event, { stream }) => people.stream(idOf(stream)),
  react: async ({ keys }, { stream }, context) => {
    const contact_id = CustomerId.parse(idOf(stream))
    const person = await people.load(contact_id)
    const concerned = Object.values(person.members).flatMap(({ stream_id }) => {
      const of = live.streams.get(stream_id)
      return of?.kind === 'reminder' && of.date_field !== null && keys.includes(of.date_field) ? [of] : []
    })
    const reminders = await Promise.all(
      concerned.map(async (of) => ({ ...(await people.factsOf(of, contact_id, person)), now: context.now })),
    )
    await people.handle(contact_id, { type: 'Reschedule', reminders }, context)
  },
})

const told = { OutreachMessageSent, OutreachSurveyAnswered, OutreachEngaged }

/** Messages, answers and visits stand on the timeline of the lead. */
export const whenOutreachHappenedRecordActivity = (
  leads: Pick<Leads, 'find' | 'handle' | 'stream'>,
  live: LiveOutreach,
): Reaction<typeof told> => ({
  name: 'when-outreach-happened-record-activity',
  categories: ['outreach_person'],
  events: told,
  target: (_event, { stream }) => leads.stream(CustomerId.parse(idOf(stream))),
  react: async (event, { stream, id }, context) => {
    const contact_id = CustomerId.parse(idOf(stream))
    if (event.type === 'OutreachEngaged' && event.by !== 'landing') return
    if (!(await leads.find(OrganisationId.parse(context.organisation_id), contact_id))) return
    const name = live.streams.get(event.stream_id)?.name ?? 'an outreach stream'
    const isSent = event.type === 'OutreachMessageSent'
    await leads.handle(
      {
        contact_id,
        acts: [
          {
            type: 'RecordActivity',
            activity_id: derivedId('outreach_activity', id),
            kind: isSent ? event.channel : event.type === 'OutreachEngaged' ? 'link_clicked' : 'survey_answered',
            summary: isSent
              ? `A message of ${name} was sent`
              : event.type === 'OutreachEngaged'
                ? `Came by a link of ${name}`
                : `Answered the survey ${name}`,
            channel: isSent ? event.channel : 'web',
            direction: isSent ? 'outbound' : 'inbound',
            related: { type: 'outreach_stream', id: event.stream_id },
            happened_at: context.now,
          },
        ],
        by: { type: isSent ? 'system' : 'contact', name: null },
      },
      context,
    )
  },
})
