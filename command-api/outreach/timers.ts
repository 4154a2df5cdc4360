import { timeZoneOf } from '#domain/access/record.ts'
import { idOf } from '#domain/event.ts'
import { CustomerId } from '#domain/values.ts'
import { realTime, type Clock } from '#infra/clock.ts'
import { isAboutErased } from '#infra/crypto/erased.ts'
import type { Timer } from '../reactions/timers.ts'
import type { OutreachPeople } from './people.ts'
import type { LiveOutreach, Organisations, Streams } from './streams.ts'

type Deps = {
  readonly people: OutreachPeople
  readonly streams: Streams
  readonly live: LiveOutreach
  readonly organisations: Organisations
  readonly clock: Clock
}

/** The timers of outreach: a person's next message of a stream, the next issue of a newsletter, the cost of drafts. */
export const outreachTimers = ({ people, streams, live, organisations, clock }: Deps): readonly Timer[] => [
  {
    kind: 'outreach_next',
    fire: async ({ id: member_id, stream: ownStream }, context) => {
      const contact_id = CustomerId.parse(idOf(ownStream))
      const person = await people.load(contact_id)
      const member = Object.values(person.members).find((each) => each.member_id === member_id)
      const stream = member && live.streams.get(member.stream_id)
      if (!stream) return
      const facts = await people.factsOf(stream, contact_id, person)
      await people.handle(contact_id, { type: 'NextDue', ...facts, now: context.now }, context).catch(async (error) => {
        if (!isAboutErased(error)) throw error
        // Otherwise it would be due for ever.
        await people.handle(contact_id, { type: 'EndAll' }, context)
      })
    },
  },
  {
    // Whoever made the call has died, or was cut off. A call that is under way when business time is moved is not lost.
    kind: 'outreach_draft',
    fire: async ({ stream }, context) =>
      streams.handle(idOf(stream), { type: 'SettleDrafts', real_now: realTime().toISOString() }, context),
  },
  {
    kind: 'outreach_issue',
    fire: async ({ id, organisation_id }, context) => {
      const time_zone = timeZoneOf(organisations, organisation_id)
      // After an outage one issue goes out, and not one for each that was missed.
      await streams.handle(id, { type: 'ReleaseIssue', now: clock.now().toISOString(), time_zone }, context)
    },
  },
]
