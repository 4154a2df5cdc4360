import { outcomeIn } from '#domain/outcomes/outcomes.ts'
import type { Outcome } from '#domain/outcomes/record.ts'
import { unrecordable, type ReportState } from '#domain/outcomes/report.ts'
import type { Report } from '#domain/outcomes/events.ts'
import type { CustomerId } from '#domain/values.ts'
import { Problem } from '#infra/http/problem.ts'
import type { Context } from '../writing/handle.ts'
import type { OutcomeStreams, Reported, Reporter } from './outcome-streams.ts'

/** An outcome that is or was to be recorded. */
type Recordable = Pick<
  ReportState,
  'organisation_id' | 'outcome_id' | 'api_application_id' | 'source' | 'event_id' | 'by'
> & { readonly report: Report | null }

/** The rights of a report that nobody waits for any more: those that its application has now. */
export const sentByOf = (
  { directory }: OutcomeStreams,
  { api_application_id }: Pick<Recordable, 'api_application_id'>,
): Reporter['sentBy'] =>
  api_application_id === null || directory.applications.get(api_application_id)?.scopes.includes('outcomes')
    ? undefined
    : api_application_id

export const recordCommand = async (
  { models, leads }: OutcomeStreams,
  id: string,
  state: Recordable,
  contact_id: CustomerId,
  sentBy: Reporter['sentBy'],
) => {
  const { organisation_id, api_application_id, source, event_id, report, by } = state
  if (!report) throw unrecordable()
  const model = models(organisation_id)
  const outcome_type = model.types.find(({ key }) => key === report.type)
  if (!outcome_type)
    throw new Problem('validation_failed', `The outcome model has no type ${report.type} any more.`, {
      fields: { type: 'is no type of the outcome model' },
    })
  const seen_by = [...((await leads.find(organisation_id, contact_id))?.record.senders ?? [])]
  const origin = { organisation_id, outcome_id: id, api_application_id, source, event_id, by, seen_by }
  const cancelsOf = seen_by.every((each) => each === sentBy) ? undefined : sentBy
  return { type: 'RecordOutcome', ...origin, contact_id, report, outcome_type, model, cancelsOf } as const
}

/** Records what a report says of its lead, unless that was done before. */
export const record = async (
  streams: OutcomeStreams,
  id: string,
  state: ReportState,
  contact_id: CustomerId,
  context: Context,
  sentBy: Reporter['sentBy'],
): Promise<Outcome> => {
  const command = await recordCommand(streams, id, state, contact_id, sentBy)
  const ledger = await streams.ledgers.handle(contact_id, command, context)
  const outcome = outcomeIn(ledger.state, id)
  if (!outcome) throw new Error(`Outcome ${id} was not recorded.`)
  return outcome
}

export const answer = async (
  streams: OutcomeStreams,
  id: string,
  state: ReportState,
  isReplay: boolean,
  context: Context,
  sentBy: Reporter['sentBy'],
): Promise<Reported> => {
  if (state.contact_id !== null)
    return { recorded: await record(streams, id, state, state.contact_id, context, sentBy), isReplay }
  return { held: state.held ?? 'no_match', id, isReplay }
}
