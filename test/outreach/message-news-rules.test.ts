import type { MessageNewsEvent } from '#domain/message-news/events.ts'
import { messageNews } from '#domain/message-news/message-news.ts'
import { CustomerId } from '#domain/values.ts'
import { organisation_id } from '../applications/release.ts'
import { scenariosOf } from '../scenario.ts'

const scenario = scenariosOf(messageNews)
const told = (contact: string): Omit<MessageNewsEvent, 'type'> => ({
  organisation_id,
  kind: 'unsubscribe',
  channel: 'email',
  contact_id: CustomerId.parse(contact),
  stream_id: null,
  message_id: null,
  purposes: ['first_party_marketing'],
  address: 'family@example.com',
  text: 'STOP',
})
const ann = told('c0000000-0000-4000-8000-000000000001')
const ben = told('c0000000-0000-4000-8000-000000000002')
const received = (news: Omit<MessageNewsEvent, 'type'>): MessageNewsEvent => ({ type: 'MessageNewsReceived', ...news })

scenario('what a message gateway tells is recorded of each person who has the address', {
  given: [],
  when: { type: 'ReceiveMessageNews', news: [ann, ben] },
  then: [received(ann), received(ben)],
})
scenario('what it tells again is recorded once', {
  given: [received(ann)],
  when: { type: 'ReceiveMessageNews', news: [ann, ben] },
  then: [],
})
