import { messageNewsEvents, type MessageNewsEvent } from '#domain/message-news/events.ts'
import { OrganisationId, type CustomerId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'
import type { Leads } from '../leads/live-leads.ts'
import type { Reaction } from '../reactions/reaction.ts'
import type { OutreachPeople } from './people.ts'
import type { LiveOutreach } from './streams.ts'

type NewsReaction = Reaction<typeof messageNewsEvents>

/** Events of nobody lead to nothing: they stay with themselves. */
const targetBy =
  (streamOf: (contact_id: CustomerId) => string): NonNullable<NewsReaction['target']> =>
  ({ contact_id }, { stream }) =>
    contact_id === null ? stream : streamOf(contact_id)

/** Replies, and what could not be delivered, stand on the timeline of the lead. That a person unsubscribed, consent says. */
export const whenMessageNewsReceivedRecordActivity = (
  leads: Pick<Leads, 'find' | 'handle' | 'stream'>,
  live: LiveOutreach,
): NewsReaction => {
  const summaryOf = ({ kind, stream_id, text }: MessageNewsEvent): string => {
    if (kind === 'reply') return text ?? ''
    const name = (stream_id !== null && live.streams.get(stream_id)?.name) || 'an outreach stream'
    return `A message of ${name} could not be delivered${text ? `: ${text}` : ''}`
  }
  return {
    name: 'when-message-news-received-record-activity',
    categories: ['message_news'],
    events: messageNewsEvents,
    target: targetBy(leads.stream),
    react: async (news, { id }, context) => {
      const { kind, contact_id, channel, stream_id } = news
      if (kind === 'unsubscribe' || contact_id === null) return
      if (!(await leads.find(OrganisationId.parse(context.organisation_id), contact_id))) return
      await leads.handle(
        {
          contact_id,
          acts: [
            {
              type: 'RecordActivity',
              activity_id: derivedId('message_news_activity', id),
              kind: kind === 'reply' ? 'reply' : 'bounced',
              summary: summaryOf(news),
              channel,
              direction: 'inbound',
              related: stream_id === null ? null : { type: 'outreach_stream', id: stream_id },
              happened_at: context.now,
            },
          ],
          by: kind === 'reply' ? { type: 'contact', name: null } : { type: 'system', name: null },
        },
        context,
      )
    },
  }
}

/** An undelivered message goes by the next channel, or is counted, and nothing more is sent to that address. */
export const whenMessageNewsReceivedNoteUndelivered = (people: OutreachPeople, live: LiveOutreach): NewsReaction => ({
  name: 'when-message-news-received-note-undelivered',
  categories: ['message_news'],
  events: messageNewsEvents,
  target: targetBy(people.stream),
  react: async ({ kind, contact_id, stream_id, message_id, channel, address, text: reason }, _recorded, context) => {
    const isPlaced = contact_id !== null && stream_id !== null && message_id !== null && address !== null
    if (kind !== 'undeliverable' || !isPlaced) return
    const stream = live.streams.get(stream_id)
    const person = await people.load(contact_id)
    const reachable = stream ? (await people.factsOf(stream, contact_id, person)).reachable : []
    const about = { stream_id, message_id, channel, address, reason, stream, reachable }
    await people.handle(contact_id, { type: 'NoteUndelivered', ...about }, context)
  },
})
