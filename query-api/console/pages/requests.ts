import { z } from 'zod'
import { Delivery } from '../../delivery-log.ts'
import { auditOf, pageOf, type Page } from '../page.ts'
import { recordLink } from '../records.ts'
import { badge, facts, link, moment, section, words } from '../show.ts'
import { sentence } from '../timeline.ts'
import { h, type View } from '../view.ts'
import { shownAttempt, tonesOfDeliveries } from './deliveries.ts'
import { historyParts } from './history.ts'

const RecordName = z.object({ type: z.string(), id: z.string() })

const CausedEvent = z.object({
  event: z.object({
    event_id: z.string(),
    type: z.string(),
    record: RecordName,
    actor: z.object({ type: z.string(), id: z.string().nullable() }),
    occurred_at: z.string(),
  }),
  timers: z.array(z.object({ kind: z.string(), due_at: z.string(), record: RecordName })),
  deliveries: z.array(Delivery),
  get leads_to(): z.ZodArray<typeof CausedEvent> {
    return z.array(CausedEvent)
  },
})
type CausedEvent = z.output<typeof CausedEvent>

const Caused = z.object({
  data: z.object({ request_id: z.string(), events: z.array(CausedEvent), is_cut: z.boolean() }),
})

/** Webhooks that told of an event, each with its attempts and what was answered. */
export const shownDeliveries = (organisation_id: string, deliveries: readonly Delivery[]): View =>
  deliveries.map(({ id, type, state, reason, attempts }) =>
    h(
      'li',
      {},
      h(
        'p',
        {},
        'Webhook ',
        link(pageOf(organisation_id, `deliveries/${id}`), type),
        ' ',
        badge(state, tonesOfDeliveries[state]),
        reason !== null && h('span', { class: 'quiet' }, ` ${reason}`),
      ),
      attempts.length > 0 && h('ol', { class: 'timeline' }, attempts.map(shownAttempt)),
    ),
  )

const whoOf = ({ type, id }: CausedEvent['event']['actor']): string => {
  switch (type) {
    case 'system':
      return `the service: ${words(id ?? '').replaceAll('-', ' ')}`
    case 'user':
      return 'a user'
    default:
      return `${words(type)} ${id ?? ''}`
  }
}

const shownEvent = (organisation_id: string, { event, timers, deliveries, leads_to }: CausedEvent): View =>
  h(
    'li',
    { id: `event-${event.event_id}` },
    h(
      'p',
      {},
      h('strong', {}, link(pageOf(organisation_id, `history/events/${event.event_id}`), sentence(event.type))),
      ' · ',
      recordLink(organisation_id, event.record),
      ' ',
      h('span', { class: 'quiet' }, ['by ', whoOf(event.actor), ' · ', moment(event.occurred_at)]),
    ),
    (timers.length > 0 || deliveries.length > 0 || leads_to.length > 0) &&
      h(
        'ul',
        { class: 'caused' },
        leads_to.map((each) => shownEvent(organisation_id, each)),
        timers.map(({ kind, due_at, record }) =>
          h(
            'li',
            {},
            'Still to happen: ',
            words(kind),
            ' of ',
            recordLink(organisation_id, record),
            ' on ',
            moment(due_at),
          ),
        ),
        shownDeliveries(organisation_id, deliveries),
      ),
  )

/** All that one request caused, as a tree. */
export const requestPage: Page = {
  address: '/console/organisations/:organisation_id/history/requests/:request_id',
  show: async ({ organisation, path, url, now }) => {
    const organisation_id = organisation?.id ?? ''
    const request_id = path['request_id'] ?? ''
    const { data } = await now(auditOf(organisation_id, `requests/${request_id}`), Caused)
    return {
      title: 'What a request caused',
      main: [
        historyParts(organisation_id, url),
        facts([['Request', h('code', {}, request_id)]]),
        section(
          'What it caused',
          h(
            'ul',
            { class: 'caused' },
            data.events.map((each) => shownEvent(organisation_id, each)),
          ),
          data.is_cut &&
            h('p', { class: 'quiet' }, 'There is more: the first 1,000 events, timers and webhooks are shown.'),
        ),
      ],
    }
  },
}
