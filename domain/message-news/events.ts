import { z } from 'zod'
import { ConsentPurpose } from '../campaigns/events.ts'
import { event, personal, type EventOf } from '../event.ts'
import { OutreachChannel } from '../outreach/events.ts'
import { CustomerId, OrganisationId, OutreachStreamId } from '../values.ts'

export const MessageNewsKind = z.enum(['reply', 'unsubscribe', 'undeliverable'])
export type MessageNewsKind = z.infer<typeof MessageNewsKind>

/** Stream `message_news-<id>`, the id made from organisation and the sender's id, so that each is recorded once. */
export const messageNewsEvents = {
  /** A message gateway has told us something. Where several people have the address that it is from: one event for each. */
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
      /** Of whom asks to receive no more: what they withdraw consent for. */
      purposes: z.array(ConsentPurpose),
      /** The person's address. */
      address: personal(z.string()).nullable(),
      /** What they wrote; of what is undeliverable, why. */
      text: personal(z.string()).nullable(),
    },
    { subject: ({ contact_id }) => contact_id },
  ),
}
export type MessageNewsEvent = EventOf<typeof messageNewsEvents>
