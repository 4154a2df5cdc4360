import type { Outcome } from '#domain/outcomes/record.ts'
import type { CustomerId } from '#domain/values.ts'
import { Problem } from '#infra/http/problem.ts'
import type { Context } from '../writing/handle.ts'
import { matchLead } from './matching.ts'
import { answer, record, recordCommand, sentByOf } from './record.ts'
import { refuseUnknownId } from './report.ts'
import { noOutcome, type OutcomeStreams, type Reported, type Reporter, type Reporting } from './outcome-streams.ts'

/** A person puts right what was wrong with a held outcome. */
export const correct =
  (streams: OutcomeStreams) =>
  async (
    { organisation_id, by }: Reporter,
    id: string,
    { report, lead }: Pick<Reporting, 'report' | 'lead'>,
    context: Context,
  ): Promise<Reported> => {
    const before = await streams.reports.load(id)
    if (before?.organisation_id !== organisation_id) throw noOutcome()
    const match = await matchLead(streams, organisation_id, lead, undefined)
    refuseUnknownId(match)
    const { contact_id, held } = match
    if (contact_id !== null)
      await streams.ledgers.preview(
        contact_id,
        await recordCommand(streams, id, { ...before, report }, contact_id, sentByOf(streams, before)),
      )
    const command = { type: 'CorrectHeldOutcome', report, lead, contact_id, held, by } as const
    const { state, events } = await streams.reports.handle(id, command, context)
    if (!state) throw noOutcome()
    return answer(streams, id, state, events.length === 0, context, sentByOf(streams, state))
  }

/** A person says which lead a held outcome is about. */
export const match =
  (streams: OutcomeStreams) =>
  async (reporter: Reporter, id: string, contact_id: CustomerId, context: Context): Promise<Outcome> => {
    const { organisation_id, by } = reporter
    const report = await streams.reports.load(id)
    if (report?.organisation_id !== organisation_id) throw noOutcome()
    if (!(await streams.leads.find(organisation_id, contact_id)))
      throw new Problem('validation_failed', 'Correct contact_id: there is no such lead.', {
        fields: { contact_id: 'is no lead' },
      })
    await streams.ledgers.preview(
      contact_id,
      await recordCommand(streams, id, report, contact_id, sentByOf(streams, report)),
    )
    const { state } = await streams.reports.handle(id, { type: 'MatchHeldOutcome', contact_id, by }, context)
    if (!state) throw noOutcome()
    return record(streams, id, state, contact_id, context, sentByOf(streams, state))
  }

export const discard =
  (streams: OutcomeStreams) =>
  async ({ organisation_id, by }: Reporter, id: string, context: Context): Promise<void> => {
    const report = await streams.reports.load(id)
    if (report?.organisation_id !== organisation_id) throw noOutcome()
    await streams.reports.handle(id, { type: 'DiscardHeldOutcome', by }, context)
  }
