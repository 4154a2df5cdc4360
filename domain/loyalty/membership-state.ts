import { noEntries, withEntry, type EntrySet } from './entry-set.ts'
import type { MembershipEvent } from './events.ts'
import { evolveMembership, type Membership } from './record.ts'

/** What decisions about a membership rest on: itself, and which of the partner's events it has recorded. */
export type MembershipState = { readonly membership: Membership | undefined; readonly entries: EntrySet }

export const noMembership: MembershipState = { membership: undefined, entries: noEntries }

export const evolveState = (
  { membership, entries }: MembershipState,
  event: MembershipEvent,
  recorded: { readonly occurred_at: string },
): MembershipState => {
  const evolved = evolveMembership(membership, event, recorded)
  if (!('entry_id' in event)) return { membership: evolved, entries }
  const points = 'points' in event ? event.points : null
  const tier_key = 'tier_key' in event ? event.tier_key : null
  return { membership: evolved, entries: withEntry(entries, { id: event.entry_id, points, tier_key }) }
}
