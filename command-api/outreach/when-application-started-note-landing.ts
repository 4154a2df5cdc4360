import { applicationEvents } from '#domain/applications/events.ts'
import type { Keys } from '#infra/crypto/keys.ts'
import { linkSubjectOf } from '#infra/crypto/link-tokens.ts'
import type { Reaction } from '../reactions/reaction.ts'
import { type OutreachPeople } from './people.ts'

const { ApplicationStarted } = applicationEvents

/** A person who starts an application by the link of a message is engaged. A token that is not ours says nothing. */
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
