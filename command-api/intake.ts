import { timeZoneOf, type Directory } from '#domain/access/record.ts'
import type { OpenAccount } from '#domain/provider-accounts/record.ts'
import type { Shown } from '#infra/consumers/until-shown.ts'
import type { DataKeys } from '#infra/crypto/data-keys.ts'
import type { GuardedHttp } from '#infra/guarded-http.ts'
import type { Route } from '#infra/http/route.ts'
import { openAiCompatible } from '#infra/lead-reader/openai-compatible.ts'
import type { Parts } from '#infra/parts.ts'
import { campaignRoutes } from './campaigns/routes.ts'
import type { CrmModels } from './crm.ts'
import { makePeople } from './customers/people.ts'
import { makeLookalikes } from './ingests/lookalikes.ts'
import { modelReader } from './ingests/model-reader.ts'
import { makeReadingUse } from './ingests/reading-use.ts'
import { receiveRoute } from './ingests/receive-route.ts'
import type { ClaimContent, FindContent, ReleaseContent } from './ingests/recent-content.ts'
import { ingestTeamRoutes } from './ingests/team-routes.ts'
import { retryIngests } from './ingests/timers.ts'
import { uploadRoute } from './ingests/upload-route.ts'
import { whenIngestReceivedResolveIt } from './ingests/when-ingest-received-resolve-it.ts'
import { whenIngestResolvedReadIt } from './ingests/when-ingest-resolved-read-it.ts'
import type { LiveCampaigns } from './campaigns/live-campaigns.ts'
import type { Leads } from './leads/live-leads.ts'
import type { SomeReaction } from './reactions/reaction.ts'
import type { Timer } from './reactions/timers.ts'
import type { Writer } from './writing/writer.ts'

type RouteDeps = {
  readonly writer: Writer
  readonly dataKeys: Pick<DataKeys, 'digest' | 'of' | 'discard'>
  readonly directory: Directory
  readonly campaigns: LiveCampaigns
  readonly claimContent: ClaimContent
  readonly findContent: FindContent
  readonly releaseContent: ReleaseContent
  readonly baseUrl: string
}

/** Leads that others send: the way in. */
export const intakeRoutes = (deps: RouteDeps): readonly Route[] => {
  const { writer, dataKeys, directory, campaigns, claimContent, findContent, releaseContent, baseUrl } = deps
  return [
    ...campaignRoutes({ writer, campaigns }),
    receiveRoute({ writer, dataKeys, claimContent, findContent, releaseContent, baseUrl }),
    uploadRoute({ writer, directory }),
    ...ingestTeamRoutes({ writer, people: makePeople({ writer, digest: dataKeys.digest }) }),
  ]
}

type ProcessingDeps = Pick<Parts, 'pool' | 'dataKeys' | 'clock' | 'log'> & {
  readonly shown: Shown
  readonly writer: Writer
  readonly directory: Directory
  readonly crmModels: CrmModels
  readonly leads: Leads
  readonly people: ReturnType<typeof makePeople>
  readonly openAccount: OpenAccount
  /** For the models that read what was sent. */
  readonly models: GuardedHttp
}

/** How what was sent becomes a lead: by reactions, and by a timer where an attempt has failed. */
export const intakeProcessing = (
  deps: ProcessingDeps,
): { readonly reactions: readonly SomeReaction[]; readonly timers: readonly Timer[] } => {
  const { writer, directory, crmModels, leads, people, openAccount, models, clock, log } = deps
  const { organisations, applications } = directory
  const { pipelines } = crmModels
  const reader = modelReader({
    openAccount,
    ask: openAiCompatible(models),
    use: makeReadingUse(deps.pool),
    budgetOf: (organisation_id) => pipelines(organisation_id).reading,
    timeZoneOf: (organisation_id) => timeZoneOf(organisations, organisation_id),
    clock,
  })
  const lookalikes = makeLookalikes(deps)
  const known = { pipelines, lookalikes, organisations, applications }
  const processing = { writer, people, leads, reader, log, clock, ...known }
  return {
    reactions: [whenIngestReceivedResolveIt(processing), whenIngestResolvedReadIt(processing)],
    timers: [retryIngests(processing)],
  }
}
