import { refuseOtherContent } from '#domain/outcomes/report.ts'
import { Rejection, type ErrorCode } from '#domain/rejection.ts'
import { Problem } from '#infra/http/problem.ts'
import { newId } from '#infra/ids.ts'
import { withoutTarget, type Context } from '../writing/handle.ts'
import { matchLead, type Match } from './matching.ts'
import { answer, record, recordCommand, sentByOf } from './record.ts'
import {
  idOf,
  type OutcomeStreams,
  type ReadReceived,
  type Received,
  type Reported,
  type Reporter,
  type Reporting,
} from './outcome-streams.ts'

const isRefusal = (code: ErrorCode): boolean => code === 'not_repeatable' || code === 'validation_failed'

export const noLead = 'is the id of no lead'

export const refuseUnknownId = (match: Match): void => {
  if (match.contact_id !== null || !match.isUnknownId) return
  throw new Rejection(
    'not_found',
    'There is no lead with this id. Use a contact_id that GET /api/v1/crm/leads has shown, or the external_id that the lead was sent with.',
    { lead: noLead },
  )
}

/** Records an outcome, or holds it. An event id stands for one report: with the same content it is the same answer. */
export const report =
  (streams: OutcomeStreams) =>
  async (reporter: Reporter, { event_id, lead, report }: Reporting, context: Context): Promise<Reported> => {
    const { organisation_id, api_application_id, source, by, sentBy } = reporter
    const id = event_id === null ? newId() : idOf(reporter, event_id)
    const earlier = event_id === null ? undefined : await streams.reports.load(id)
    if (earlier) {
      refuseOtherContent({ report, lead }, earlier)
      return answer(streams, id, earlier, true, context, sentBy)
    }
    const match = await matchLead(streams, organisation_id, lead, sentBy)
    refuseUnknownId(match)
    const { contact_id, held } = match
    const content = { organisation_id, api_application_id, source, event_id, report, lead, by, outcome_id: id }
    // What is refused must not use the event id up.
    if (contact_id !== null)
      await streams.ledgers.preview(contact_id, await recordCommand(streams, id, content, contact_id, sentBy))
    const command = { type: 'ReportOutcome', ...content, contact_id, held } as const
    const { state, events } = await streams.reports.handle(id, command, context)
    if (!state) throw new Error(`Report ${id} was not taken in.`)
    return answer(streams, id, state, events.length === 0, context, sentBy)
  }

/** Takes in what an event of another system says. What cannot be used, and what fits no lead, is held. */
export const receive =
  (streams: OutcomeStreams) =>
  async (
    { organisation_id, outcome_id, event_id, sent }: Received,
    read: ReadReceived,
    context: Context,
  ): Promise<void> => {
    const by = { type: 'system', name: null } as const
    const origin = { organisation_id, outcome_id, api_application_id: null, source: 'webhook', event_id, by } as const
    if ('fields' in read) {
      await streams.reports.handle(
        outcome_id,
        { type: 'ReportInvalidOutcome', ...origin, sent, faults: read.fields },
        context,
      )
      return
    }
    const { report, lead } = read
    const { contact_id, held } = await matchLead(streams, organisation_id, lead, undefined)
    await streams.reports.handle(
      outcome_id,
      { type: 'ReportOutcome', ...origin, report, lead, contact_id, held },
      context,
    )
  }

/** Records an outcome whose lead is known. One that this lead cannot have is held. */
export const settle =
  (streams: OutcomeStreams) =>
  async (id: string, context: Context): Promise<void> => {
    const state = await streams.reports.load(id)
    if (state?.status !== 'matched' || state.contact_id === null) return
    // The ledger knows the outcome by its id, so that it counts once whoever records it.
    try {
      await record(streams, id, state, state.contact_id, withoutTarget(context), sentByOf(streams, state))
    } catch (error) {
      if (!(error instanceof Rejection || error instanceof Problem) || !isRefusal(error.code)) throw error
      await streams.reports.handle(id, { type: 'HoldMatchedOutcome', faults: { type: error.message } }, context)
    }
  }
