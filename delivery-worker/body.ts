import type { Pool } from 'pg'
import { reasonOf } from '#infra/reason.ts'
import { unsentMax } from './backoff.ts'
import { kindNamed, type Capabilities, type Snapshots } from './capability.ts'
import type { Claimed } from './queue.ts'
import type { Body } from './send.ts'

/**
 * Reads what the bodies of some deliveries need. The result makes the body of one. What fails for one kind of subject, or
 * for one delivery, is the reason why that has no body, and does not concern the others.
 */
export const readBodies = async (
  pool: Pool,
  capabilities: Capabilities,
  claimed: readonly Claimed[],
): Promise<(delivery: Claimed, now: Date) => Body> => {
  const byType = Map.groupBy(claimed.filter(isWorthIt), ({ subject_type }) => subject_type)
  const snapshots = new Map<string, Snapshots | { readonly missing: string }>()
  const readKind = async ([type, own]: readonly [string, readonly Claimed[]]) => {
    const subjects = own.map(({ organisation_id, subject_id: id }) => ({ organisation_id, id }))
    try {
      snapshots.set(type, await kindNamed(capabilities.subjects, type).readSnapshots(pool, subjects))
    } catch (error) {
      snapshots.set(type, { missing: reasonOf(error) })
    }
  }
  await Promise.all([...byType].map(readKind))

  return (delivery, now) => {
    if (!isWorthIt(delivery)) return { missing: 'lost with its worker, or not sent, too often' }
    const { subject_type, subject_id, message } = delivery
    const snapshotOf = snapshots.get(subject_type)
    if (typeof snapshotOf !== 'function') return snapshotOf ?? { missing: 'its snapshot was not read' }
    try {
      const snapshot = snapshotOf(subject_id, now)
      if (!snapshot) return { missing: 'its subject is not in the read models' }
      return { text: JSON.stringify({ ...message, ...snapshot }) }
    } catch (error) {
      return { missing: reasonOf(error) }
    }
  }
}

/** One that was lost that often may be why its workers died, so nothing is done for it any more. */
const isWorthIt = ({ unsent }: Claimed): boolean => unsent < unsentMax
