import type { Recorded } from '../decider.ts'
import { z } from 'zod'
import { CalendarDate, CoverType, Pence } from '../values.ts'
import { ClaimId, type ClaimEvent } from './events.ts'

export const ClaimStatus = z.enum(['open', 'evidence_requested', 'approved', 'declined', 'paid', 'closed'])
export type ClaimStatus = z.infer<typeof ClaimStatus>

const isSettled: Readonly<Record<ClaimStatus, boolean>> = {
  open: false,
  evidence_requested: false,
  approved: false,
  declined: true,
  paid: true,
  closed: true,
}

/** The statuses of a claim for which the details of its person are still needed. */
export const unsettled: readonly ClaimStatus[] = ClaimStatus.options.filter((status) => !isSettled[status])

/** A claim on a policy, as it stands. */
export const Claim = z
  .object({
    claim_id: ClaimId,
    claim_type: CoverType,
    cover_index: z.int().nullable(),
    status: ClaimStatus,
    amount_pence: Pence.nullable(),
    paid_pence: Pence.describe('Paid in all, also before it was reopened.'),
    happened_on: CalendarDate,
    paid_on: CalendarDate.nullable(),
    /** The team's latest note. */
    note: z.string().nullable(),
    opened_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'Claim' })
export type Claim = z.infer<typeof Claim>

/** A claim's status after each event. */
export const statusAfter = {
  ClaimEvidenceRequested: 'evidence_requested',
  ClaimApproved: 'approved',
  ClaimDeclined: 'declined',
  ClaimPaid: 'paid',
  ClaimClosed: 'closed',
  ClaimReopened: 'open',
} as const satisfies Record<Exclude<ClaimEvent['type'], 'ClaimOpened'>, ClaimStatus>

export const evolveClaim = (
  claim: Claim | undefined,
  event: ClaimEvent,
  { occurred_at }: Recorded,
): Claim | undefined => {
  if (event.type === 'ClaimOpened') {
    const { claim_id, claim_type, cover_index, amount_pence, happened_on, note } = event
    const given = { claim_id, claim_type, cover_index, amount_pence, happened_on, note }
    return { ...given, status: 'open', paid_pence: 0, paid_on: null, opened_at: occurred_at, updated_at: occurred_at }
  }
  return (
    claim && {
      ...claim,
      status: statusAfter[event.type],
      amount_pence: event.amount_pence,
      note: event.note ?? claim.note,
      ...(event.type === 'ClaimPaid' && {
        paid_pence: claim.paid_pence + (event.amount_pence ?? 0),
        paid_on: event.paid_on,
      }),
      updated_at: occurred_at,
    }
  )
}

/** The claims on a policy, in the order in which they were opened. */
export const evolveClaims = (claims: readonly Claim[], event: ClaimEvent, recorded: Recorded): readonly Claim[] => {
  if (event.type !== 'ClaimOpened')
    return claims.map((each) =>
      each.claim_id === event.claim_id ? (evolveClaim(each, event, recorded) ?? each) : each,
    )
  const opened = evolveClaim(undefined, event, recorded)
  return opened ? [...claims, opened] : claims
}
