import { z } from 'zod'
import { event, personal, type EventOf } from '../event.ts'
import { CustomerId, OrganisationId } from '../values.ts'

export const LegalHoldId = z.uuid().toLowerCase().brand<'LegalHoldId'>()
export type LegalHoldId = z.infer<typeof LegalHoldId>

/** One record of the person for which all that is known of them is kept. */
export const HeldRecord = z
  .object({ type: z.enum(['application', 'complaint', 'ingest', 'policy']), id: z.uuid().toLowerCase() })
  .meta({ id: 'HeldRecord' })
export type HeldRecord = z.infer<typeof HeldRecord>

const own = { subject: (_data: unknown, contactId: string) => contactId }

/** Stream `legal_hold-<contact id>`: all holds on one person. */
export const legalHoldEvents = {
  LegalHoldPlaced: event(
    {
      hold_id: LegalHoldId,
      organisation_id: OrganisationId,
      contact_id: CustomerId,
      /** Null: the person as such. */
      record: HeldRecord.nullable(),
      reason: personal(z.string()),
    },
    own,
  ),
  LegalHoldEnded: event({ hold_id: LegalHoldId, reason: personal(z.string()) }, own),
}
export type LegalHoldEvent = EventOf<typeof legalHoldEvents>
