import type { Recorded } from '../decider.ts'
import { z } from 'zod'
import { CustomerId, OrganisationId } from '../values.ts'
import type { ErasureEvent } from './events.ts'

/** The erasure of a person, the operator's key, and the progress. */
export const Erasure = z
  .object({
    contact_id: CustomerId,
    organisation_id: OrganisationId,
    requested_at: z.iso.datetime(),
    requested_by: z.string().nullable().describe('The name of the operator’s key, or the id of the user.'),
    erased_at: z.iso.datetime().nullable().describe('When the keys were destroyed; null: that is still to come.'),
    records: z.int().describe('How many records told of the person: applications, leads, policies and so on.'),
  })
  .meta({ id: 'Erasure' })
export type Erasure = z.infer<typeof Erasure>

/** The erasure after an event, for the command side and the read model alike. */
export const evolveErasure = (
  erasure: Erasure | undefined,
  event: ErasureEvent,
  { occurred_at }: Recorded,
): Erasure | undefined => {
  switch (event.type) {
    case 'PersonErasureRequested': {
      const { organisation_id, contact_id, requested_by } = event
      // Many records that only details lead to are named by several events.
      if (erasure) return erasure
      return { contact_id, organisation_id, requested_at: occurred_at, requested_by, erased_at: null, records: 0 }
    }
    case 'PersonErased':
      return (
        erasure && {
          ...erasure,
          erased_at: event.more_follow ? erasure.erased_at : occurred_at,
          records: erasure.records + event.streams.length,
        }
      )
  }
}
