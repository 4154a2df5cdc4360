import type { Capability } from '../capability.ts'
import { tpsClear } from '#infra/tps/tpsclear.ts'
import { leadsNotErased } from './live-leads.ts'
import { leadAdminRoutes } from './routes.ts'
import { screenNumbers } from './screen-numbers.ts'
import { leadTimers } from './timers.ts'
import { whenApplicationChangedRecordActivity } from './when-application-changed-record-activity.ts'
import { whenConsentRecordedRecordActivity } from './when-consent-recorded-record-activity.ts'
import { whenCustomerUpdatedRecordChange } from './when-customer-updated-record-change.ts'
import { whenPolicyBoundWinLead } from './when-policy-bound-win-lead.ts'
import { whenPolicyChangedRecordActivity } from './when-policy-changed-record-activity.ts'

export const leads: Capability = {
  routes: (side) => {
    const { pipelines, people, isErased } = side
    return leadAdminRoutes({
      leads: leadsNotErased(side),
      isErased,
      pipelines,
      claim: people.claim,
      personOf: people.record,
    })
  },
  work: (side) => {
    const { leads, people, outside } = side
    return {
      reactions: [
        whenConsentRecordedRecordActivity(leads),
        whenApplicationChangedRecordActivity(side),
        whenCustomerUpdatedRecordChange(leads),
        whenPolicyBoundWinLead(side),
        whenPolicyChangedRecordActivity(side),
      ],
      timers: [
        ...leadTimers(side),
        screenNumbers({
          ...side,
          screen: tpsClear(outside),
          phoneOf: async (organisation_id, id) => (await people.record(organisation_id, id))?.phone_number ?? null,
        }),
      ],
    }
  },
}
