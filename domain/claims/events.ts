import { z } from 'zod'
import { event, personal, type EventOf } from '../event.ts'
import { CalendarDate, CoverType, CustomerId, Pence } from '../values.ts'

export const ClaimId = z.uuid().toLowerCase().brand<'ClaimId'>()
export type ClaimId = z.infer<typeof ClaimId>

const claim = {
  claim_id: ClaimId,
  claim_type: CoverType,
  customer_id: CustomerId,
  /** The claimed or, later, approved amount; null while nobody has said. */
  amount_pence: Pence.nullable(),
}
/** A claim tells of a person's health: the team's note is under the person's key. */
const note = personal(z.string()).nullable()
const subject = {
  subject: ({ customer_id }: { readonly customer_id: string }) => customer_id,
  part: ({ claim_id }: { readonly claim_id: string }) => `claim-${claim_id}`,
}

/** Stream `policy-<policy id>`. */
export const claimEvents = {
  ClaimOpened: event({ ...claim, cover_index: z.int().nullable(), happened_on: CalendarDate, note }, subject),
  ClaimEvidenceRequested: event({ ...claim, note }, subject),
  ClaimApproved: event({ ...claim, note }, subject),
  ClaimDeclined: event({ ...claim, note }, subject),
  ClaimPaid: event({ ...claim, paid_on: CalendarDate, note }, subject),
  ClaimClosed: event({ ...claim, note }, subject),
  ClaimReopened: event({ ...claim, note }, subject),
}
export type ClaimEvent = EventOf<typeof claimEvents>
