import type { Decider } from '../decider.ts'
import { Rejection } from '../rejection.ts'
import type { CustomerId, OrganisationId } from '../values.ts'
import { erasureEvents, type ErasureEvent } from './events.ts'
import { mayBeErased, type Hindrance } from './hindrances.ts'
import { evolveErasure, mayBeAskedByHand, type Erasure } from './record.ts'

export type ErasureCommand =
  | {
      readonly type: 'RequestErasure'
      readonly organisation_id: OrganisationId
      readonly contact_id: CustomerId
      readonly requested_by: string | null
      readonly streams: readonly string[]
      /** For these, the person's details are needed. */
      readonly hindrances: readonly Hindrance[]
    }
  /** Something came up for which a person is kept whose erasure nobody has asked for by hand. */
  | { readonly type: 'GiveUpErasure'; readonly because: string }
  /** The keys of the person and of these streams are destroyed. */
  | { readonly type: 'ConfirmErasure'; readonly streams: readonly string[] }

/** Most streams in one event, and most events in one append. */
const streamsOfAnEvent = 100
const eventsAtOnce = 10

/** An erasure as the command side knows it: what is recorded of it, and the streams that were confirmed. */
export type ErasureState = { readonly record: Erasure; readonly confirmed: ReadonlySet<string> }

const inParts = (streams: readonly string[]): readonly string[][] =>
  Array.from({ length: Math.max(1, Math.ceil(streams.length / streamsOfAnEvent)) }, (_, index) =>
    streams.slice(index * streamsOfAnEvent, (index + 1) * streamsOfAnEvent),
  )

const mayBeAskedAgain = (erasure: Erasure, requested_by: string | null): boolean =>
  requested_by === null ? erasure.given_up_at !== null : mayBeAskedByHand(erasure)

const decide = (command: ErasureCommand, erasure: ErasureState | undefined): readonly ErasureEvent[] => {
  switch (command.type) {
    case 'RequestErasure': {
      if (erasure && !mayBeAskedAgain(erasure.record, command.requested_by)) return []
      const { type: _type, hindrances, streams, ...requested } = command
      const hold = hindrances.find((each) => each.why === 'legal_hold')
      if (hold) throw new Rejection('conflict', `The person is under the legal hold ${hold.record.id}. End it first.`)
      if (!mayBeErased(hindrances))
        throw new Rejection(
          'conflict',
          'The person has a policy that is in force, a claim that is not settled, a refund that is owed, or a complaint that is not closed, for which their details are needed. Cancel the policy first, or wait until it has ended, settle or close the claim, retry or close the refund, and close the complaint.',
        )
      return inParts(streams).map((part) => ({ type: 'PersonErasureRequested', ...requested, streams: part }))
    }
    case 'GiveUpErasure':
    case 'ConfirmErasure': {
      if (!erasure || erasure.record.given_up_at !== null) return []
      const { record, confirmed } = erasure
      if (command.type === 'GiveUpErasure') return givenUp(record, command.because)
      const left = command.streams.filter((stream) => !confirmed.has(stream))
      if (left.length === 0 && record.erased_at !== null) return []
      const { contact_id } = record
      const parts = inParts(left)
      return parts.slice(0, eventsAtOnce).map((streams, index) => ({
        type: 'PersonErased',
        contact_id,
        streams,
        more_follow: index + 1 < parts.length,
      }))
    }
  }
}

const givenUp = (
  { organisation_id, contact_id, requested_by, erased_at, records }: Erasure,
  because: string,
): readonly ErasureEvent[] =>
  requested_by !== null || erased_at !== null || records > 0
    ? []
    : [{ type: 'PersonErasureGivenUp', organisation_id, contact_id, because }]

const evolve = (
  state: ErasureState | undefined,
  event: ErasureEvent,
  recorded: { readonly occurred_at: string },
): ErasureState | undefined => {
  const record = evolveErasure(state?.record, event, recorded)
  if (!record) return undefined
  const { confirmed = new Set<string>() } = state ?? {}
  return { record, confirmed: event.type === 'PersonErased' ? confirmed.union(new Set(event.streams)) : confirmed }
}

export const erasure: Decider<ErasureCommand, typeof erasureEvents, ErasureState | undefined> = {
  category: 'erasure',
  events: erasureEvents,
  initialState: undefined,
  decide,
  evolve,
}
