import type { OutcomeModel } from '#domain/outcomes/events.ts'
import { outcomeModelsFold, outcomeModelsOf, type OutcomeModels } from '#domain/outcomes/record.ts'
import type { LiveFolds } from '#infra/consumers/live-folds.ts'

/** Each organisation's outcome model, as this process has it from the log. */
export const followOutcomeModels = async (folds: LiveFolds): Promise<OutcomeModels> =>
  outcomeModelsOf(await folds.follow(outcomeModelsFold, new Map<string, OutcomeModel>()))
