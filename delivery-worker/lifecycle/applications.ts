import { applicationEvents } from '#domain/applications/events.ts'
import { idOf } from '#domain/event.ts'
import type { LifecycleEventType } from '#domain/workflows/events.ts'
import { lifecycle } from './lifecycle.ts'

const {
  ApplicationStarted,
  CustomerSaved,
  ApplicationReferred,
  ApplicationDeclined,
  ApplicationPostponed,
  ApplicationAbandoned,
} = applicationEvents

const told = {
  ApplicationStarted,
  CustomerSaved,
  ApplicationReferred,
  ApplicationDeclined,
  ApplicationPostponed,
  ApplicationAbandoned,
}

const names: Readonly<Record<keyof typeof told, LifecycleEventType>> = {
  ApplicationStarted: 'application.started',
  CustomerSaved: 'application.customer_saved',
  ApplicationReferred: 'application.referred',
  ApplicationDeclined: 'application.declined',
  ApplicationPostponed: 'application.postponed',
  ApplicationAbandoned: 'application.abandoned',
}

/** Why an application was declined, referred or postponed is not told: the reason gives an underwriting answer away. */
export const applicationLifecycle = lifecycle({
  aggregate: 'application',
  events: told,
  idOf: (_event, { stream }) => idOf(stream),
  remember: (facts, event) =>
    event.type === 'ApplicationStarted'
      ? { application_id: event.application_id, product_id: event.product_id }
      : facts,
  tell: (event) => ({
    type: names[event.type],
    payload: event.type === 'ApplicationAbandoned' ? { reason: event.reason } : {},
  }),
})
