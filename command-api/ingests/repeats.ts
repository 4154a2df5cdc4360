import type { LeadRule } from '#domain/campaigns/events.ts'
import { fromStored } from '#domain/event.ts'
import type { RuleFailure } from '#domain/ingests/events.ts'
import type { IngestRecord } from '#domain/ingests/record.ts'
import { leadEvents } from '#domain/leads/events.ts'
import type { CustomerId } from '#domain/values.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import type { Context } from '../handle.ts'
import type { Leads } from '../live-leads.ts'

type Deps = {
  readonly writer: { readonly log: Pick<EventLog, 'read'> }
  readonly leads: Pick<Leads, 'stream'>
}

const pageSize = 200

/** Holds leads of a person against the rules that the same person must not be sent again too soon. */
export const makeRepeats = ({ writer, leads }: Deps) => {
  const wasSent = async (
    contact_id: CustomerId,
    since: string,
    campaign_id: string | null | undefined,
    ingest_id: string,
  ): Promise<boolean> => {
    const stream = leads.stream(contact_id)
    let from: number | undefined
    for (;;) {
      const page = await writer.log.read(stream, {
        direction: 'backwards',
        limit: pageSize,
        ...(from !== undefined && { from }),
      })
      for (const recorded of page) {
        const event = fromStored(leadEvents, recorded)
        if (event.type !== 'LeadCreated' && event.type !== 'LeadSentAgain') continue
        // Of other events nothing follows: that of a late timer counts as of when it was due.
        if (recorded.metadata.occurred_at < since) return false
        const isOfCampaign = campaign_id === undefined || (event.campaign?.id ?? null) === campaign_id
        if (isOfCampaign && event.ingest_id !== ingest_id) return true
      }
      const earliest = page.at(-1)?.revision ?? 0
      if (page.length < pageSize || earliest === 0) return false
      from = earliest - 1
    }
  }

  /** The rules against the same person sent again too soon. */
  return async (
    record: IngestRecord,
    contact_id: CustomerId,
    rules: { readonly campaign: readonly LeadRule[]; readonly all: readonly LeadRule[] },
    { now }: Context,
  ): Promise<readonly RuleFailure[]> => {
    const failures: RuleFailure[] = []
    for (const [scope, those] of [
      ['campaign', rules.campaign],
      ['all', rules.all],
    ] as const)
      for (const rule of those) {
        if (rule.rule !== 'no_duplicate') continue
        const since = new Date(Date.parse(now) - rule.days * 86_400_000).toISOString()
        const campaign_id = scope === 'campaign' ? (record.campaign?.id ?? null) : undefined
        if (await wasSent(contact_id, since, campaign_id, record.id))
          failures.push({
            field: 'contact',
            rule: rule.rule,
            reason: `was sent already within the last ${rule.days} days`,
          })
      }
    return failures
  }
}
