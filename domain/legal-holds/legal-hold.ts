import type { Decider } from '../decider.ts'
import { notFound, Rejection } from '../rejection.ts'
import { differencesOf, refuseOtherContent } from '../same-key.ts'
import type { CustomerId, OrganisationId } from '../values.ts'
import { legalHoldEvents, type HeldRecord, type LegalHoldEvent, type LegalHoldId } from './events.ts'
import { evolveLegalHolds, type LegalHolds } from './record.ts'

export type LegalHoldCommand =
  | {
      readonly type: 'PlaceLegalHold'
      readonly hold_id: LegalHoldId
      readonly organisation_id: OrganisationId
      readonly contact_id: CustomerId
      readonly record: HeldRecord | null
      readonly reason: string
    }
  | { readonly type: 'EndLegalHold'; readonly hold_id: LegalHoldId; readonly reason: string }

const mostHolds = 100

const decide = (command: LegalHoldCommand, holds: LegalHolds): readonly LegalHoldEvent[] => {
  const known = holds[command.hold_id]
  switch (command.type) {
    case 'PlaceLegalHold': {
      const { type: _type, ...given } = command
      if (known) {
        refuseOtherContent('placed a hold', differencesOf({ record: given.record, reason: given.reason }, known))
        return []
      }
      if (Object.keys(holds).length >= mostHolds)
        throw new Rejection('conflict', `There can be at most ${mostHolds} holds on one person, ended ones included.`)
      return [{ type: 'LegalHoldPlaced', ...given }]
    }
    case 'EndLegalHold': {
      if (!known) throw notFound('legal hold')
      if (known.state === 'ended') return []
      return [{ type: 'LegalHoldEnded', hold_id: command.hold_id, reason: command.reason }]
    }
  }
}

export const legalHold: Decider<LegalHoldCommand, typeof legalHoldEvents, LegalHolds> = {
  category: 'legal_hold',
  events: legalHoldEvents,
  initialState: {},
  decide,
  evolve: evolveLegalHolds,
}
