import { z } from 'zod'
import { ConsentPurpose } from '../campaigns/events.ts'
import { event, personal, type EventOf } from '../event.ts'
import { OutreachChannel } from '../outreach/events.ts'
import { CustomerId, OrganisationId, OutreachStreamId } from '../values.ts'

export const MessageNewsKind = z.enum(['reply', 'unsubscribe', 'undeliverable'])
export type MessageNewsKind = z.infer<typeof MessageNewsKind>

/** Stream `message_news-<id>`, the id made from organisation and the sender's id, so that each is recorded once. */
export const messageNewsEvents = {
  /** A report of a message gateway. Where several people have the address that it is from: one event for each. */
  MessageNewsReceived: event(
    {
      organisation_id: OrganisationId,
      kind: MessageNewsKind,
      channel: OutreachChannel,
      /** Null: nobody is known by it; then nothing personal is kept. */
      contact_id: CustomerId.nullable(),
      /** The outreach message that it is about, where that is known. */
      stream_id: OutreachStreamId.nullable(),
      message_id: z.uuid().nullable(),
      /** The purposes for which a request to receive no more withdraws consent. */
      purposes: z.array(ConsentPurpose),
      /** The person's address. */
      address: personal(z.string()).nullable(),
      /** Their text; for an undeliverable message, the reason. */
      text: personal(z.string()).nullable(),
    },
    { subject: ({ contact_id }) => contact_id },
  ),
}
export type MessageNewsEvent = EventOf<typeof messageNewsEvents>
