import type { LeadRule } from '#domain/campaigns/events.ts'
import type { RuleFailure } from '#domain/ingests/events.ts'
import type { IngestRecord } from '#domain/ingests/record.ts'
import type { Requirements } from './requirements.ts'
import type { Sending } from '../leads/live-leads.ts'

/** The rules against the same person sent again too soon, of a person who was sent before like this. */
export const sentTooSoon = (
  record: Pick<IngestRecord, 'id' | 'campaign'>,
  sendings: readonly Sending[],
  { campaign, intake }: Requirements,
  now: string,
): readonly RuleFailure[] => {
  const others = sendings.filter(({ ingest_id }) => ingest_id !== record.id)
  const ofCampaign = others.filter(({ campaign_id }) => campaign_id === (record.campaign?.id ?? null))
  return [...unmet(campaign?.rules ?? [], ofCampaign, now), ...unmet(intake.rules, others, now)]
}

const unmet = (rules: readonly LeadRule[], sendings: readonly Sending[], now: string): readonly RuleFailure[] =>
  rules.flatMap((rule) => {
    if (rule.rule !== 'no_duplicate') return []
    const since = new Date(Date.parse(now) - rule.days * 86_400_000).toISOString()
    if (!sendings.some(({ at }) => at >= since)) return []
    return [{ field: 'contact', rule: rule.rule, reason: `was sent already within the last ${rule.days} days` }]
  })
