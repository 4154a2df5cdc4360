import { idOf } from '#domain/event.ts'
import { leadEvents } from '#domain/leads/events.ts'
import { type OutreachOutcome } from '#domain/outreach/events.ts'
import { CustomerId } from '#domain/values.ts'
import type { Reaction } from '../reactions/reaction.ts'
import { outreachMessageIdOf } from './ids.ts'
import { type OutreachPeople } from './people.ts'
import type { LiveOutreach } from './streams.ts'

const { LeadActivityRecorded } = leadEvents

const outcomes: Readonly<Record<string, OutreachOutcome>> = {
  reply: 'replied',
  booking: 'booked',
  application_started: 'applications',
  policy_bound: 'bound',
}

/** People's acts after a message count for the streams that sent them one. */
export const whenLeadActivityRecordedCountOutcome = (
  people: OutreachPeople,
  live: LiveOutreach,
): Reaction<{ LeadActivityRecorded: typeof LeadActivityRecorded }> => ({
  name: 'when-lead-activity-recorded-count-outcome',
  categories: ['lead'],
  events: { LeadActivityRecorded },
  target: (_event, { stream }) => people.stream(idOf(stream)),
  react: async ({ kind, summary, happened_at, related }, { stream }, context) => {
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
        answered: related?.type === 'outreach_stream' ? related.id : null,
        streams: (id) => live.streams.get(id),
        messageIdOf: (stream_id, role, number) =>
          outreachMessageIdOf(members[stream_id]?.member_id ?? stream_id, role, number),
      },
      context,
    )
  },
})
