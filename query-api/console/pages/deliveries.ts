import { z } from 'zod'
import { act, choicesOf } from '../act.ts'
import { Delivery, DeliveryState } from '../../delivery-log.ts'
import type { List } from '../list.ts'
import { apiOf, pageOf, type Page } from '../page.ts'
import { badge, empty, exactMoment, facts, link, moment, reference, section, text, words, type Tone } from '../show.ts'
import { h, type View } from '../view.ts'
import { connectionChoices, connectionLink, connectionNames, nameOfConnections } from './connection-names.ts'

export const tonesOfDeliveries: Readonly<Record<string, Tone>> = { delivered: 'good', failed: 'bad', pending: 'wait' }

const subjectOf = ({ type, id }: Delivery['subject']): string => `${words(type)} ${reference(id)}`

const answerOf = (attempt: Delivery['attempts'][number] | undefined): View =>
  attempt?.status === undefined || attempt.status === null ? text(attempt?.reason) : String(attempt.status)

export const deliveries: List<typeof Delivery> = {
  title: 'Webhooks',
  path: 'deliveries',
  api: '/admin/v1/deliveries',
  item: Delivery,
  names: nameOfConnections,
  filters: [
    { name: 'state', label: 'State', choices: choicesOf(DeliveryState.options) },
    { name: 'connection_id', label: 'Connection', choices: connectionChoices() },
    { name: 'since', label: 'From', isMoment: true },
    { name: 'until', label: 'Until', isMoment: true },
  ],
  work: { failed_deliveries: 'failed' },
  none: 'No webhook was sent yet. Connections and what they are told of are in the set-up.',
  columns: (organisation_id, nameOf) => [
    { title: 'Event', show: ({ id, type }) => link(pageOf(organisation_id, `deliveries/${id}`), type) },
    { title: 'State', show: ({ state }) => badge(state, tonesOfDeliveries[state]) },
    { title: 'Connection', show: ({ connection_id }) => nameOf?.(connection_id) ?? connection_id },
    { title: 'About', show: ({ subject }) => subjectOf(subject) },
    { title: 'Attempts', show: ({ attempts }) => String(attempts.length), isNumber: true },
    { title: 'Last answer', show: ({ attempts }) => answerOf(attempts.at(-1)) },
    { title: 'Because', show: ({ reason }) => text(reason) },
    { title: 'Recorded', show: ({ recorded_at }) => exactMoment(recorded_at) },
  ],
}

type Attempt = Delivery['attempts'][number]

const isTaken = (status: number | null): boolean => status !== null && status < 300

const becameOf = ({ outcome, status }: Attempt): View => {
  if (outcome === null) return badge('under way', 'wait')
  if (outcome !== 'answered') return badge(outcome, 'bad')
  return isTaken(status) ? badge('accepted', 'good') : badge('not accepted', 'bad')
}

export const shownAttempt = (attempt: Attempt): View => {
  const { number, started_at, status, reason, request, response } = attempt
  return h(
    'li',
    {},
    h('p', {}, h('strong', {}, `Attempt ${number}`), ' ', becameOf(attempt)),
    h('p', { class: 'quiet' }, [status !== null && `answered ${status}`, reason].filter(Boolean).join(' · ')),
    request?.body !== undefined && h('details', {}, h('summary', {}, 'Sent'), h('pre', {}, request.body)),
    response?.body !== undefined &&
      h('details', { open: !isTaken(status) }, h('summary', {}, 'Answered'), h('pre', {}, response.body)),
    h(
      'p',
      { class: 'quiet small' },
      moment(started_at),
      request?.url !== undefined && [' · ', h('code', {}, request.url)],
    ),
  )
}

/** One webhook, with each attempt and what was answered, and the way to send it again. */
export const deliveryPage: Page = {
  address: '/console/organisations/:organisation_id/deliveries/:id',
  show: async (asked) => {
    const { me, organisation, path, read } = asked
    const [{ data: delivery }, names] = await Promise.all([
      read(`/admin/v1/deliveries/${path['id'] ?? ''}`, z.object({ data: Delivery })),
      connectionNames(asked),
    ])
    const mayAct = me.roles.some((role) => role === 'owner' || role === 'operator')
    return {
      title: delivery.type,
      about: `about ${subjectOf(delivery.subject)}`,
      main: h(
        'div',
        { class: 'record' },
        h(
          'div',
          {},
          facts([
            ['State', badge(delivery.state, tonesOfDeliveries[delivery.state])],
            ['Because', text(delivery.reason)],
            ['Sent over', connectionLink(organisation?.id ?? '', delivery.connection_id, names)],
            ['About', [subjectOf(delivery.subject), ' ', h('code', {}, delivery.subject.id)]],
            ['Recorded', exactMoment(delivery.recorded_at)],
            ['Event', h('code', {}, delivery.event_id)],
            ['Next try', moment(delivery.due_at)],
            ['Ended', moment(delivery.finished_at)],
          ]),
          section(
            'Attempts',
            delivery.attempts.length === 0
              ? empty('It was not tried yet.')
              : h('ol', { class: 'timeline' }, delivery.attempts.toReversed().map(shownAttempt)),
          ),
        ),
        mayAct &&
          delivery.state !== 'pending' &&
          h(
            'div',
            {},
            section(
              'What next',
              act({
                title: 'Send it again',
                method: 'POST',
                address: apiOf(organisation?.id ?? '', 'delivery_recoveries'),
                isKeyed: true,
                sends: { delivery_id: delivery.id, 'states.0': delivery.state },
                ask: 'The receiver gets the very same once more. Where it refused it, it is refused again until the receiver is put right.',
              }),
            ),
          ),
      ),
    }
  },
}
