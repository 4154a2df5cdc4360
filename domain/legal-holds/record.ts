import { z } from 'zod'
import type { Recorded } from '../decider.ts'
import { CustomerId, OrganisationId } from '../values.ts'
import { HeldRecord, LegalHoldId, type LegalHoldEvent } from './events.ts'

export const LegalHoldState = z.enum(['in_force', 'ended'])

/** While it is in force, nothing of the person is erased. */
export const LegalHold = z
  .object({
    id: LegalHoldId,
    organisation_id: OrganisationId,
    contact_id: CustomerId,
    record: HeldRecord.nullable().describe('The record for which the person is held; null: the person as such.'),
    state: LegalHoldState,
    reason: z.string(),
    placed_at: z.iso.datetime(),
    ended_at: z.iso.datetime().nullable(),
    end_reason: z.string().nullable(),
  })
  .meta({ id: 'LegalHold' })
export type LegalHold = z.infer<typeof LegalHold>

/** One hold after an event about it. */
export const evolveLegalHold = (
  hold: LegalHold | undefined,
  event: LegalHoldEvent,
  { occurred_at }: Recorded,
): LegalHold | undefined => {
  switch (event.type) {
    case 'LegalHoldPlaced': {
      const { hold_id, organisation_id, contact_id, record, reason } = event
      const placed = { id: hold_id, organisation_id, contact_id, record, reason, placed_at: occurred_at } as const
      return { ...placed, state: 'in_force', ended_at: null, end_reason: null }
    }
    case 'LegalHoldEnded':
      return hold && { ...hold, state: 'ended', ended_at: occurred_at, end_reason: event.reason }
  }
}

export type LegalHolds = Readonly<Record<string, LegalHold>>

/** All holds on a person, by their id. */
export const evolveLegalHolds = (
  holds: LegalHolds | undefined,
  event: LegalHoldEvent,
  recorded: Recorded,
): LegalHolds => {
  const { [event.hold_id]: before, ...others } = holds ?? {}
  const after = evolveLegalHold(before, event, recorded)
  return after ? { ...others, [event.hold_id]: after } : others
}
