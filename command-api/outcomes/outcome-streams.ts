import type { Pool } from 'pg'
import type { Directory } from '#domain/access/record.ts'
import type { MappedOutcome } from '#domain/custom-integrations/events.ts'
import type { LeadActor } from '#domain/leads/events.ts'
import type { HeldReason, LeadReference, OutcomeSource, OutcomeType, Report } from '#domain/outcomes/events.ts'
import { outcomes } from '#domain/outcomes/outcomes.ts'
import type { Outcome, OutcomeModels } from '#domain/outcomes/record.ts'
import { outcomeReport } from '#domain/outcomes/report.ts'
import { notFound, type Fields } from '#domain/rejection.ts'
import type { ApiApplicationId, OrganisationId } from '#domain/values.ts'
import type { Shown } from '#infra/consumers/until-shown.ts'
import { derivedId } from '#infra/ids.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import type { MatchingDeps } from './matching.ts'

export type OutcomesDeps = MatchingDeps & {
  readonly writer: Writer
  readonly pool: Pick<Pool, 'query'>
  readonly shown: Shown
  readonly models: OutcomeModels
  readonly directory: Pick<Directory, 'applications'>
}

/** The reporter or reverser, and the leads that they may see. */
export type Reporter = {
  readonly organisation_id: OrganisationId
  readonly api_application_id: ApiApplicationId | null
  readonly source: OutcomeSource
  readonly by: LeadActor
  /** Only the leads that this application sent. */
  readonly sentBy: ApiApplicationId | undefined
}

export type Reporting = {
  readonly event_id: string | null
  readonly lead: LeadReference
  readonly report: Report
  readonly outcome_type: OutcomeType
}

/** An outcome in an event of another system. */
export type Received = {
  readonly organisation_id: OrganisationId
  readonly outcome_id: string
  readonly event_id: string | null
  readonly sent: MappedOutcome
}

/** The same, checked: a report, or what is wrong by input. */
export type ReadReceived = Pick<Reporting, 'lead' | 'report'> | { readonly fields: Fields }

export type Reported =
  | { readonly recorded: Outcome; readonly isReplay: boolean }
  | { readonly held: HeldReason; readonly id: string; readonly isReplay: boolean }

/** The streams of reports, and of what was recorded of each lead. */
export const outcomeStreams = (deps: OutcomesDeps) => ({
  ...deps,
  reports: commandHandler(deps.writer, outcomeReport),
  ledgers: commandHandler(deps.writer, outcomes),
})
export type OutcomeStreams = ReturnType<typeof outcomeStreams>

export const noOutcome = () => notFound('outcome')

/** The id of what a reporter sends with an event id: event ids are the senders' own. */
export const idOf = ({ organisation_id, api_application_id }: Reporter, event_id: string): string =>
  derivedId('outcome', organisation_id, api_application_id ?? '', event_id)
