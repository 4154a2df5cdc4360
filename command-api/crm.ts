import type { Pool } from 'pg'
import type { Directory } from '#domain/access/record.ts'
import { application } from '#domain/applications/application.ts'
import { idOf, type RecordedEvent } from '#domain/event.ts'
import type { OutcomeModel } from '#domain/outcomes/events.ts'
import { outcomeModelsFold, outcomeModelsOf, type OutcomeModels } from '#domain/outcomes/record.ts'
import { policy } from '#domain/policies/policy.ts'
import { CustomerId, type OrganisationId } from '#domain/values.ts'
import { untilShown, type Shown } from '#infra/consumers/until-shown.ts'
import type { LiveFolds } from '#infra/consumers/live-folds.ts'
import type { DataKeys } from '#infra/crypto/data-keys.ts'
import type { Keys } from '#infra/crypto/keys.ts'
import type { Route } from '#infra/http/route.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { makeApplicationConsent } from './applications/application-consent.ts'
import { consentRoutes } from './customers/consent-routes.ts'
import { verificationRoutes } from './customers/verification-routes.ts'
import { makePeople } from './customers/people.ts'
import { erasureRoutes } from './erasures/routes.ts'
import { whenCustomerSavedRecordCustomer } from './customers/when-customer-saved-record-customer.ts'
import { whenQuoteIssuedRecordSoftOptIn } from './customers/when-quote-issued-record-soft-opt-in.ts'
import type { Catalogue } from './catalogue/live-catalogue.ts'
import { leadAdminRoutes } from './leads/routes.ts'
import { whenApplicationChangedRecordActivity } from './leads/when-application-changed-record-activity.ts'
import { whenConsentRecordedRecordActivity } from './leads/when-consent-recorded-record-activity.ts'
import { whenCustomerUpdatedRecordChange } from './leads/when-customer-updated-record-change.ts'
import { whenPolicyChangedRecordActivity } from './leads/when-policy-changed-record-activity.ts'
import { whenPolicyBoundWinLead } from './leads/when-policy-bound-win-lead.ts'
import { commandHandler } from './writing/handle.ts'
import { whenPolicyChangedRecordOutcome } from './outcomes/when-policy-changed-record-outcome.ts'
import { screenNumbers, type ScreenDeps } from './leads/screen-numbers.ts'
import { leadTimers } from './leads/timers.ts'
import type { Leads } from './leads/live-leads.ts'
import { followPipelines, type Pipelines } from './pipeline/live-pipelines.ts'
import { outcomeAdminRoutes } from './outcomes/admin-routes.ts'
import { uploadOutcomesRoute } from './outcomes/upload-route.ts'
import { outcomeRoutes } from './outcomes/routes.ts'
import { whenInboundEventAcceptedReportOutcome } from './outcomes/when-inbound-event-accepted-report-outcome.ts'
import { whenLeadSentShowOutcomes } from './outcomes/when-lead-sent-show-outcomes.ts'
import { whenOutcomeRecordedFollowOutcome } from './outcomes/when-outcome-recorded-follow-outcome.ts'
import { whenOutcomeReportedRecordOutcome } from './outcomes/when-outcome-reported-record-outcome.ts'
import { pipelineRoute } from './pipeline/routes.ts'
import type { SomeReaction } from './reactions/reaction.ts'
import type { Timer } from './reactions/timers.ts'
import type { Writer } from './writing/writer.ts'

/** What organisations have declared of how they work leads. */
export type CrmModels = { readonly pipelines: Pipelines; readonly outcomeModels: OutcomeModels }

export const followCrmModels = async (folds: LiveFolds): Promise<CrmModels> => {
  const [pipelines, outcomeModels] = await Promise.all([
    followPipelines(folds),
    folds.follow(outcomeModelsFold, new Map<string, OutcomeModel>()).then(outcomeModelsOf),
  ])
  return { pipelines, outcomeModels }
}

type CrmDeps = {
  readonly writer: Writer
  readonly pool: Pick<Pool, 'query'>
  readonly shown: Shown
  readonly directory: Directory
  readonly catalogue: Pick<Catalogue, 'slugs'>
  readonly dataKeys: Pick<DataKeys, 'digest'>
  readonly models: CrmModels
  readonly leads: Leads
}

/** More people than this share no telephone number that could tell them apart. */
const mostOfOneNumber = 20

const findByPhone =
  ({ pool, shown }: Pick<CrmDeps, 'pool' | 'shown'>) =>
  async (organisation_id: OrganisationId, phone_number: string): Promise<readonly CustomerId[]> => {
    // Of two who share the number, one may not be shown yet.
    await untilShown(shown, ['customer'])
    const { rows } = await pool.query<{ id: string }>(sql`
      select id from customers
      where organisation_id = ${organisation_id} and phone_number = ${phone_number}
      limit ${mostOfOneNumber}`)
    return rows.map(({ id }) => CustomerId.parse(id))
  }

/** Somebody who was erased is no lead any more: what is said of them could not be stored. */
const withoutErased = (leads: Leads, { isErased }: Pick<ReturnType<typeof makePeople>, 'isErased'>): Leads => ({
  ...leads,
  find: async (organisation_id, contact_id) => {
    const found = await leads.find(organisation_id, contact_id)
    return found && !(await isErased(contact_id)) ? found : undefined
  },
})

const outcomesDepsOf = ({ writer, pool, shown, directory, catalogue, dataKeys, models, leads }: CrmDeps) => {
  const people = makePeople({ writer, digest: dataKeys.digest })
  return {
    writer,
    pool,
    shown,
    models: models.outcomeModels,
    leads: withoutErased(leads, people),
    findPerson: people.find,
    findByPhone: findByPhone({ pool, shown }),
    directory,
    catalogue,
  }
}

/** Leads and what becomes of them: the way in. */
export const crmRoutes = (
  deps: CrmDeps & {
    readonly keys: Pick<Keys, 'links'>
    readonly baseUrl: string
  },
): readonly Route[] => {
  const { models } = deps
  const outcomesDeps = outcomesDepsOf(deps)
  const people = makePeople({ writer: deps.writer, digest: deps.dataKeys.digest })
  return [
    ...consentRoutes({ people }),
    ...verificationRoutes({ ...deps, people }),
    ...erasureRoutes({ ...deps, people, leads: outcomesDeps.leads }),
    pipelineRoute({ pipelines: models.pipelines }),
    ...leadAdminRoutes({
      leads: outcomesDeps.leads,
      pipelines: models.pipelines,
      claim: people.claim,
      personOf: people.record,
    }),
    ...outcomeRoutes(outcomesDeps),
    ...outcomeAdminRoutes(outcomesDeps),
    uploadOutcomesRoute(outcomesDeps),
  ]
}

type ReactionDeps = CrmDeps & {
  readonly catalogue: Pick<Catalogue, 'release' | 'slugs'>
  readonly people: ReturnType<typeof makePeople>
}

/** What leads and outcomes do about what happens elsewhere. */
export const crmReactions = (deps: ReactionDeps): readonly SomeReaction[] => {
  const { writer, leads, catalogue, people } = deps
  const { loadFrom } = commandHandler(writer, application)
  const policyOf = commandHandler(writer, policy).load
  const answersOf = makeApplicationConsent(writer, catalogue)
  const customerOf = async ({ stream, revision }: RecordedEvent) =>
    (await loadFrom(idOf(stream), revision))?.record.customer?.id
  const outcomesDeps = outcomesDepsOf(deps)
  return [
    whenCustomerSavedRecordCustomer(writer, { people, answersOf }),
    whenQuoteIssuedRecordSoftOptIn({ people, answersOf, customerOf }),
    whenConsentRecordedRecordActivity(leads),
    whenOutcomeRecordedFollowOutcome(leads),
    whenLeadSentShowOutcomes(writer, leads),
    whenApplicationChangedRecordActivity({ leads, customerOf }),
    whenCustomerUpdatedRecordChange(leads),
    whenPolicyBoundWinLead({ leads, policyOf }),
    whenInboundEventAcceptedReportOutcome(outcomesDeps),
    whenOutcomeReportedRecordOutcome(outcomesDeps),
    whenPolicyChangedRecordActivity({ leads, policyOf }),
    whenPolicyChangedRecordOutcome({
      writer,
      models: deps.models.outcomeModels,
      policyOf,
      slugOf: async (organisation_id, product_id, release_id) =>
        (await catalogue.release(organisation_id, product_id, release_id))?.slug,
    }),
  ]
}

export const crmTimers = (deps: ScreenDeps): readonly Timer[] => [...leadTimers(deps), screenNumbers(deps)]
