import { z } from 'zod'
import { event, type EventOf } from '../event.ts'
import { CustomerId, OrganisationId } from '../values.ts'

const stream = z.string().regex(/^[a-z_]+-[\da-f-]{36}$/, 'must be the name of a stream')

/** Stream `erasure-<contact id>`: nothing in it is personal, so that it stays and says what was done. */
export const erasureEvents = {
  PersonErasureRequested: event({
    organisation_id: OrganisationId,
    contact_id: CustomerId,
    /** The name of the operator's key; null: a process without one. */
    requested_by: z.string().nullable(),
    /** Streams that only details of the person lead to, which nobody can read later. */
    streams: z.array(stream),
  }),
  /** Nobody has asked for it by hand, and before anything was destroyed, something came up for which the person is kept. */
  PersonErasureGivenUp: event({ organisation_id: OrganisationId, contact_id: CustomerId, because: z.string() }),
  /** The keys are destroyed: what these streams tell of the person is read with empty values from now on. */
  PersonErased: event(
    { contact_id: CustomerId, streams: z.array(stream), /** Another event names the rest. */ more_follow: z.boolean() },
    { upcasts: [(v1) => ({ ...v1, more_follow: false })] },
  ),
}
export type ErasureEvent = EventOf<typeof erasureEvents>
