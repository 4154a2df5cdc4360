import type { Change } from '../changes.ts'
import { Rejection } from '../rejection.ts'
import type { ProposedChange } from './events.ts'

/** Of all changes of a proposal, written as JSON: about 50,000 rates with keys of 60 characters. */
export const mostCharacters = 5_000_000

/** The changes of an act as they are kept, all of them, so that whoever approves it can see each. */
export const proposedChanges = (changes: readonly Change[]): ProposedChange[] => {
  const kept = changes.map(({ path, before = null, after = null }) => ({ path, before, after }))
  if (JSON.stringify(kept).length > mostCharacters)
    throw new Rejection(
      'conflict',
      `This would change ${kept.length} values, more than can be kept for a second user to see. Do it in several steps, such as a rate table for each variant, each with fewer.`,
    )
  return kept
}
