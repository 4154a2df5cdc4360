import { noEntries, withEntry, type EntrySet } from './entry-set.ts'
import type { MembershipEvent } from './events.ts'
import { entryTypes, evolveMembership, type Membership } from './record.ts'

/** The state for decisions about a membership: itself, and the partner's events that it has recorded. */
export type MembershipState = {
  readonly membership: Membership | undefined
  /** Those after a revision of the stream; the earlier ones are asked for. */
  readonly entries: EntrySet
  readonly entries_after: number
}

/** Before the first revision. */
export const fromTheBeginning = -1

export const noMembership: MembershipState = {
  membership: undefined,
  entries: noEntries,
  entries_after: fromTheBeginning,
}

export const evolveState = (
  { membership, entries, entries_after }: MembershipState,
  event: MembershipEvent,
  recorded: { readonly occurred_at: string },
): MembershipState => {
  const evolved = evolveMembership(membership, event, recorded)
  if (!('entry_id' in event)) return { membership: evolved, entries, entries_after }
  const points = 'points' in event ? event.points : null
  const tier_key = 'tier_key' in event ? event.tier_key : null
  const entry = { id: event.entry_id, entry_type: entryTypes[event.type], points, tier_key }
  return { membership: evolved, entries: withEntry(entries, entry), entries_after }
}
