import type { ConsentEntry } from '#domain/customers/events.ts'
import { messageNewsEvents } from '#domain/message-news/events.ts'
import { OrganisationId } from '#domain/values.ts'
import type { Reaction } from '../reactions/reaction.ts'
import type { makePeople } from './people.ts'
import { withdrawBy } from './withdraw.ts'

/**
 * A person who replies that they want no more messages withdraws consent, as by the link: on every channel that messages go
 * by.
 */
export const whenMessageNewsReceivedWithdrawConsent = (
  people: Pick<ReturnType<typeof makePeople>, 'handle' | 'record' | 'stream'>,
): Reaction<typeof messageNewsEvents> => ({
  name: 'when-message-news-received-withdraw-consent',
  categories: ['message_news'],
  events: messageNewsEvents,
  target: ({ contact_id }, { stream }) => (contact_id === null ? stream : people.stream(contact_id)),
  react: async ({ kind, contact_id, message_id, purposes }, _recorded, context) => {
    if (kind !== 'unsubscribe' || contact_id === null) return
    const entries = purposes.flatMap((purpose) =>
      (['email', 'sms', 'whatsapp'] as const).map((channel): ConsentEntry => ({
        purpose,
        channel,
        state: 'withdrawn',
        basis: 'consent',
      })),
    )
    const organisation_id = OrganisationId.parse(context.organisation_id)
    await withdrawBy('reply', people)(
      organisation_id,
      contact_id,
      { entries, said_at: context.now, message_id },
      context,
    )
  },
})
