import type { Decider } from '../decider.ts'
import { Rejection } from '../rejection.ts'
import type { CustomerId, OrganisationId } from '../values.ts'
import { erasureEvents, type ErasureEvent } from './events.ts'
import { evolveErasure, type Erasure } from './record.ts'

export type ErasureCommand =
  | {
      readonly type: 'RequestErasure'
      readonly organisation_id: OrganisationId
      readonly contact_id: CustomerId
      readonly requested_by: string | null
      readonly streams: readonly string[]
      /** Policies that are in force or are yet to be. */
      readonly policies: number
    }
  /** The keys of the person and of these streams are destroyed. */
  | { readonly type: 'ConfirmErasure'; readonly streams: readonly string[] }

/** So many streams are named by one event. */
const streamsOfAnEvent = 100

const decide = (command: ErasureCommand, erasure: Erasure | undefined): readonly ErasureEvent[] => {
  switch (command.type) {
    case 'RequestErasure': {
      if (erasure) return []
      const { type: _type, policies, streams, ...requested } = command
      if (policies > 0)
        throw new Rejection(
          'conflict',
          'The person has a policy that is in force, for which their details are needed. Cancel it first, or wait until it has ended.',
        )
      return [{ type: 'PersonErasureRequested', ...requested, streams: [...streams] }]
    }
    case 'ConfirmErasure': {
      if (!erasure || erasure.erased_at !== null) return []
      const { contact_id } = erasure
      const events = Math.max(1, Math.ceil(command.streams.length / streamsOfAnEvent))
      return Array.from({ length: events }, (_, index) => {
        const streams = command.streams.slice(index * streamsOfAnEvent, (index + 1) * streamsOfAnEvent)
        return { type: 'PersonErased', contact_id, streams }
      })
    }
  }
}

export const erasure: Decider<ErasureCommand, typeof erasureEvents, Erasure | undefined> = {
  category: 'erasure',
  events: erasureEvents,
  initialState: undefined,
  decide,
  evolve: evolveErasure,
}
