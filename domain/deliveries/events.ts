import { z } from 'zod'
import { event, type EventOf } from '../event.ts'
import { Key } from '../pipeline/events.ts'
import { OrganisationId } from '../values.ts'

const Instant = z.iso.datetime()
/** The name of a kind of event, or of record. */
const Name = z.string().regex(/^[\w.]{1,100}$/)

/** Deliveries that ended; those that are still pending are sent anyway. */
export const EndedState = z.enum(['delivered', 'failed', 'cancelled'])
export type EndedState = z.infer<typeof EndedState>

export const DeliveryRecoveryId = z.uuid().brand<'DeliveryRecoveryId'>()
export type DeliveryRecoveryId = z.infer<typeof DeliveryRecoveryId>

/** Stream `delivery_recovery-<id>`: what the operator asked to be sent again, which is also the audit entry. */
export const deliveryRecoveryEvents = {
  DeliveryRecoveryRequested: event({
    delivery_recovery_id: DeliveryRecoveryId,
    organisation_id: OrganisationId,
    delivery_id: z.uuid().nullable(),
    connection_id: z.uuid().nullable(),
    /** Null: all types. */
    types: z.array(Name).nullable(),
    states: z.array(EndedState).min(1),
    /** Null: since the connection began to fail, or any time for a single delivery. */
    since: Instant.nullable(),
    /** Null: what was recorded before the request. */
    until: Instant.nullable(),
    per_second: z.number().positive(),
    /** Sending over the connection, which was disabled, begins again. */
    enables: z.boolean(),
  }),
}
export type DeliveryRecoveryEvent = EventOf<typeof deliveryRecoveryEvents>

/** Settings for deliveries over one connection; null means no limit of its own, and never disabled. */
export const deliverySettings = {
  per_second: z.number().min(0.1).max(10_000).nullable(),
  at_once: z.int().min(1).max(1_000).nullable(),
  in_order: z.boolean(),
  disable_after_minutes: z.int().min(10).max(43_200).nullable(),
}

/** Stream `delivery_settings-<connection id>`. */
export const deliverySettingsEvents = {
  DeliverySettingsChanged: event({ organisation_id: OrganisationId, connection_id: z.uuid(), ...deliverySettings }),
}
export type DeliverySettingsEvent = EventOf<typeof deliverySettingsEvents>

/** Stream `delivery_ping-<id>`: the operator tries a connection. */
export const deliveryPingEvents = {
  ConnectionPinged: event(
    {
      organisation_id: OrganisationId,
      connection_id: z.uuid(),
      /** Of an integration: which of its endpoints is called. */
      endpoint: Key.nullable(),
    },
    { upcasts: [(data) => ({ ...data, endpoint: null })] },
  ),
}

/** Streams `delivery_news-<id>` of one event each: what the delivery worker reports. Nothing in them is personal. */
export const deliveryOutcomeEvents = {
  /** None of its attempts succeeded, or its receiver refused it. */
  DeliveryFailed: event({
    delivery_id: z.uuid(),
    connection_id: z.uuid(),
    event_id: z.uuid(),
    event_type: Name,
    subject_type: Name,
    subject_id: z.uuid(),
    attempts: z.int(),
    status: z.int().nullable(),
    reason: z.string().nullable(),
  }),
  /** It has been failing for half of the time after which it is disabled. */
  ConnectionFailing: event({ connection_id: z.uuid(), failing_since: Instant, disabled_from: Instant }),
  /** Nothing is sent over it until the operator recovers it. What is planned waits. */
  ConnectionDisabled: event({ connection_id: z.uuid(), failing_since: Instant }),
}
export type DeliveryOutcomeEvent = EventOf<typeof deliveryOutcomeEvents>
