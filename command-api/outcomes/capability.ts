import type { Capability } from '../capability.ts'
import { untilShown } from '#infra/consumers/until-shown.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { CustomerId, type OrganisationId } from '#domain/values.ts'
import type { CommandSide } from '../command-side.ts'
import { leadsNotErased } from '../leads/live-leads.ts'
import { outcomeAdminRoutes } from './admin-routes.ts'
import { outcomeRoutes } from './routes.ts'
import { uploadOutcomesRoute } from './upload-route.ts'
import { whenInboundEventAcceptedReportOutcome } from './when-inbound-event-accepted-report-outcome.ts'
import { whenLeadSentShowOutcomes } from './when-lead-sent-show-outcomes.ts'
import { whenOutcomeRecordedFollowOutcome } from './when-outcome-recorded-follow-outcome.ts'
import { whenOutcomeReportedRecordOutcome } from './when-outcome-reported-record-outcome.ts'
import { whenPolicyChangedRecordOutcome } from './when-policy-changed-record-outcome.ts'

/** More people than this share no telephone number that could tell them apart. */
const mostOfOneNumber = 20

const findByPhone =
  ({ pool, shown }: Pick<CommandSide, 'pool' | 'shown'>) =>
  async (organisation_id: OrganisationId, phone_number: string): Promise<readonly CustomerId[]> => {
    // Of two who share the number, one may not be shown yet.
    await untilShown(shown, ['customer'])
    const { rows } = await pool.query<{ id: string }>(sql`
      select id from customers
      where organisation_id = ${organisation_id} and phone_number = ${phone_number}
      limit ${mostOfOneNumber}`)
    return rows.map(({ id }) => CustomerId.parse(id))
  }

/** The parts with which a report finds its person. */
const reportingOf = (side: CommandSide) => ({
  ...side,
  models: side.outcomeModels,
  leads: leadsNotErased(side),
  findPerson: side.people.find,
  findByPhone: findByPhone(side),
})

export const outcomes: Capability = {
  routes: (side) => {
    const reporting = reportingOf(side)
    return [...outcomeRoutes(reporting), ...outcomeAdminRoutes(reporting), uploadOutcomesRoute(reporting)]
  },
  work: (side) => {
    const { writer, leads, catalogue, outcomeModels, policyOf } = side
    const reporting = reportingOf(side)
    return {
      reactions: [
        whenOutcomeRecordedFollowOutcome(leads),
        whenLeadSentShowOutcomes(writer, leads),
        whenInboundEventAcceptedReportOutcome(reporting),
        whenOutcomeReportedRecordOutcome(reporting),
        whenPolicyChangedRecordOutcome({
          writer,
          models: outcomeModels,
          policyOf,
          slugOf: async (organisation_id, product_id, release_id) =>
            (await catalogue.release(organisation_id, product_id, release_id))?.slug,
        }),
      ],
    }
  },
}
