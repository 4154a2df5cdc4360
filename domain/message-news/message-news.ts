import type { Decider } from '../decider.ts'
import { messageNewsEvents, type MessageNewsEvent } from './events.ts'

export type ReceiveMessageNews = {
  readonly type: 'ReceiveMessageNews'
  readonly news: readonly Omit<MessageNewsEvent, 'type'>[]
}

/** A repeated report is recorded once. */
export const messageNews: Decider<ReceiveMessageNews, typeof messageNewsEvents, boolean> = {
  category: 'message_news',
  events: messageNewsEvents,
  initialState: false,
  decide: ({ news }, isReceived) => (isReceived ? [] : news.map((each) => ({ type: 'MessageNewsReceived', ...each }))),
  evolve: () => true,
}
