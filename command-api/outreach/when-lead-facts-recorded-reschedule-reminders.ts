import { idOf } from '#domain/event.ts'
import { leadEvents } from '#domain/leads/events.ts'
import { CustomerId } from '#domain/values.ts'
import type { Reaction } from '../reactions/reaction.ts'
import { type OutreachPeople } from './people.ts'
import type { LiveOutreach } from './streams.ts'

const { LeadFactsRecorded } = leadEvents

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
