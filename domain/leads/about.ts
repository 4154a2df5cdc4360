import type { Pipeline } from '../pipeline/events.ts'
import type { Circumstances } from './commands.ts'
import type { LeadState } from './state.ts'

/** The fields that every event of a lead has. */
export const aboutOf = ({ record }: LeadState, { by, campaign }: Circumstances) => ({
  seen_by: record.senders,
  campaign: campaign === undefined ? record.campaign : campaign,
  by,
})

export const minutesLater = (instant: string, minutes: number): string =>
  new Date(Date.parse(instant) + minutes * 60_000).toISOString()

/** When a lead goes dormant that had its last contact at this moment. */
export const dormantAt = (
  instant: string,
  { dormant_after_days }: Pick<Pipeline, 'dormant_after_days'>,
): string | null => (dormant_after_days === null ? null : minutesLater(instant, dormant_after_days * 24 * 60))
