import { z } from 'zod'
import { adviceOf, Hindrance } from '../erasures/hindrances.ts'
import type { RetainedRecord } from './events.ts'

/** Why a record is kept although its period is over. */
export const KeptBecause = z
  .object({
    why: z.enum([...Hindrance.shape.why.options, 'claim_kept', 'period_not_binding']),
    record: z.object({ type: z.string(), id: z.string() }),
    advice: z.string(),
  })
  .meta({ id: 'KeptBecause' })
export type KeptBecause = z.infer<typeof KeptBecause>

/** For what its person's details are needed, a lead is kept whole; any other record only for what may be about itself. */
const keeps = (type: RetainedRecord['type'], id: string, { why, record }: Hindrance): boolean => {
  switch (why) {
    case 'legal_hold':
    case 'complaint_not_closed':
      return true
    case 'policy_being_made':
      return type !== 'claim'
    case 'policy_in_force':
    case 'claim_not_settled':
    case 'refund_owed':
      return (
        type === 'lead' ||
        type === 'ingest' ||
        type === 'outcome_report' ||
        (type !== 'claim' && type === record.type && record.id === id)
      )
  }
}

/** A record that the period before keeps: it still binds. */
export const periodNotBinding = (organisation_id: string, binds_at: string): KeptBecause => ({
  why: 'period_not_binding',
  record: { type: 'retention', id: organisation_id },
  advice: `What was set before binds as well until ${binds_at}: set the period right until then.`,
})

/** Why a record is kept, by what keeps its people from being erased and by the claims on it whose own period is not over. */
export const keptBecause = (
  { type, id }: RetainedRecord,
  hindrances: readonly Hindrance[],
  claims: readonly string[],
): readonly KeptBecause[] => [
  ...hindrances
    .filter((hindrance) => keeps(type, id, hindrance))
    .map((hindrance) => ({ ...hindrance, advice: adviceOf(hindrance) })),
  ...claims.map((claim) => ({
    why: 'claim_kept' as const,
    record: { type: 'claim', id: claim },
    advice: 'Its claim is kept for longer: its own period is not over, or none is set.',
  })),
]
