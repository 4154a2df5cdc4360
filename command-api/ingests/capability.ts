import type { Capability } from '../capability.ts'
import { timeZoneOf } from '#domain/access/record.ts'
import { openAiCompatible } from '#infra/lead-reader/openai-compatible.ts'
import type { CommandSide } from '../command-side.ts'
import { makeLookalikes } from './lookalikes.ts'
import { modelReader } from './model-reader.ts'
import { makeReadingUse } from './reading-use.ts'
import { receiveRoute } from './receive-route.ts'
import { ingestTeamRoutes } from './team-routes.ts'
import { retryIngests } from './timers.ts'
import { uploadRoute } from './upload-route.ts'
import { whenIngestReceivedResolveIt } from './when-ingest-received-resolve-it.ts'
import { whenIngestResolvedReadIt } from './when-ingest-resolved-read-it.ts'

const readerOf = ({ pool, directory, pipelines, openAccount, models, clock }: CommandSide) =>
  modelReader({
    openAccount,
    ask: openAiCompatible(models),
    use: makeReadingUse(pool),
    budgetOf: (organisation_id) => pipelines(organisation_id).reading,
    timeZoneOf: (organisation_id) => timeZoneOf(directory.organisations, organisation_id),
    clock,
  })

export const ingests: Capability = {
  routes: (side) => [receiveRoute(side), uploadRoute(side), ...ingestTeamRoutes(side)],
  /** Turns what was sent into a lead: by reactions, and by a timer where an attempt has failed. */
  work: (side) => {
    const { organisations, applications } = side.directory
    const processing = {
      ...side,
      organisations,
      applications,
      reader: readerOf(side),
      lookalikes: makeLookalikes(side),
    }
    return {
      reactions: [whenIngestReceivedResolveIt(processing), whenIngestResolvedReadIt(processing)],
      timers: [retryIngests(processing)],
    }
  },
}
