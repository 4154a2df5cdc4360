import type { Pool } from 'pg'
import type { Directory } from '#domain/access/record.ts'
import type { MappedOutcome } from '#domain/custom-integrations/events.ts'
import type { LeadActor } from '#domain/leads/events.ts'
import type { HeldReason, LeadReference, OutcomeSource, OutcomeType, Report } from '#domain/outcomes/events.ts'
import { outcomeIn, outcomes, reporterOf } from '#domain/outcomes/outcomes.ts'
import { outcomeReport, refuseOtherContent, unrecordable, type ReportState } from '#domain/outcomes/report.ts'
import type { Outcome, OutcomeModels } from '#domain/outcomes/record.ts'
import { Rejection, type ErrorCode, type Fields, notFound } from '#domain/rejection.ts'
import { CustomerId, type ApiApplicationId, type OrganisationId } from '#domain/values.ts'
import { findShown, untilShown, type Shown } from '#infra/consumers/until-shown.ts'
import { Problem } from '#infra/http/problem.ts'
import { derivedId, newId } from '#infra/ids.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { commandHandler, withoutTarget, type Context, type Writer } from '../writing/handle.ts'
import { matchLead, type Match, type MatchingDeps } from './matching.ts'

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

type Reporting = {
  readonly event_id: string | null
  readonly lead: LeadReference
  readonly report: Report
  readonly outcome_type: OutcomeType
}

/** An outcome in an event of another system. */
type Received = {
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

const isRefusal = (code: ErrorCode): boolean => code === 'not_repeatable' || code === 'validation_failed'

const noOutcome = () => notFound('outcome')

const noOutcomeSentAs = () =>
  new Problem(
    'not_found',
    'No outcome that you may reverse is recorded with this event_id. One that is held is not recorded yet; one that came in another way is reversed by its id.',
    { fields: { event_id: 'no outcome is recorded under it' } },
  )

const severalSentAs = () =>
  new Problem(
    'event_id_ambiguous',
    'Several applications or systems sent an outcome with this event_id. Reverse the one that is meant by its id: POST /api/v1/crm/outcomes/{id}/reverse.',
    { fields: { event_id: 'several outcomes carry it' } },
  )

export const noLead = 'is the id of no lead'

const refuseUnknownId = (match: Match): void => {
  if (match.contact_id !== null || !match.isUnknownId) return
  throw new Rejection(
    'not_found',
    'There is no lead with this id. Use a contact_id that GET /api/v1/crm/leads has shown, or the external_id that the lead was sent with.',
    { lead: noLead },
  )
}

/** An outcome that is or was to be recorded. */
type Recordable = Pick<
  ReportState,
  'organisation_id' | 'outcome_id' | 'api_application_id' | 'source' | 'event_id' | 'by'
> & { readonly report: Report | null }

/** Reporting, matching and reversing outcomes, whoever does it. */
export const makeOutcomes = (deps: OutcomesDeps) => {
  const { writer, pool, shown, models, leads, directory } = deps
  const reports = commandHandler(writer, outcomeReport)
  const ledgers = commandHandler(writer, outcomes)

  const idOf = ({ organisation_id, api_application_id }: Reporter, event_id: string): string =>
    derivedId('outcome', organisation_id, api_application_id ?? '', event_id)

  /** The rights of a report that nobody waits for any more: those that its application has now. */
  const sentByOf = ({ api_application_id }: Pick<Recordable, 'api_application_id'>): Reporter['sentBy'] =>
    api_application_id === null || directory.applications.get(api_application_id)?.scopes.includes('outcomes')
      ? undefined
      : api_application_id

  const recordCommand = async (id: string, state: Recordable, contact_id: CustomerId, sentBy: Reporter['sentBy']) => {
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
  const record = async (
    id: string,
    state: ReportState,
    contact_id: CustomerId,
    context: Context,
    sentBy: Reporter['sentBy'],
  ): Promise<Outcome> => {
    const ledger = await ledgers.handle(contact_id, await recordCommand(id, state, contact_id, sentBy), context)
    const outcome = outcomeIn(ledger.state, id)
    if (!outcome) throw new Error(`Outcome ${id} was not recorded.`)
    return outcome
  }

  const answer = async (
    id: string,
    state: ReportState,
    isReplay: boolean,
    context: Context,
    sentBy: Reporter['sentBy'],
  ): Promise<Reported> => {
    if (state.contact_id !== null)
      return { recorded: await record(id, state, state.contact_id, context, sentBy), isReplay }
    return { held: state.held ?? 'no_match', id, isReplay }
  }

  /** The lead of an outcome that the reporter may see. */
  const contactOf = async (
    { organisation_id, sentBy }: Reporter,
    id: string,
    unknown: () => Problem | Rejection,
  ): Promise<CustomerId> => {
    const report = await reports.load(id)
    const contact_id =
      report?.organisation_id === organisation_id ? report.contact_id : await contactInReadModel(organisation_id, id)
    if (!contact_id) throw unknown()
    if (sentBy === undefined) return contact_id
    const { senders = [] } = (await leads.find(organisation_id, contact_id))?.record ?? {}
    if (!senders.includes(sentBy)) throw unknown()
    // Of a person whom others sent too, nobody undoes what another has reported.
    const isOnlySender = senders.every((each) => each === sentBy)
    if (!isOnlySender && reporterOf(await ledgers.load(contact_id), id) !== sentBy) throw unknown()
    return contact_id
  }

  /** Outcomes that were never reported, such as those of policies, and reversals. */
  const contactInReadModel = async (organisation_id: OrganisationId, id: string): Promise<CustomerId | undefined> =>
    findShown(shown, 'outcomes', async () => {
      const { rows } = await pool.query<{ contact_id: string }>(
        sql`select contact_id from outcomes
          where organisation_id = ${organisation_id} and viewer_id = ${organisation_id} and id = ${id}`,
      )
      return rows[0] && CustomerId.parse(rows[0].contact_id)
    })

  const onlyOutcomeSentAs = async (organisation_id: OrganisationId, event_id: string): Promise<string> => {
    // One that is not shown yet may be the second.
    await untilShown(shown, ['outcomes'])
    const { rows } = await pool.query<{ id: string }>(sql`
      select id from outcomes
      where organisation_id = ${organisation_id} and viewer_id = ${organisation_id} and event_id = ${event_id} limit 2`)
    const [only, another] = rows
    if (another) throw severalSentAs()
    if (!only) throw noOutcomeSentAs()
    return only.id
  }

  const reverse = async (
    reporter: Reporter,
    id: string,
    note: string | null,
    context: Context,
    unknown: () => Problem | Rejection = noOutcome,
  ): Promise<Outcome> => {
    const { organisation_id, api_application_id, source, by } = reporter
    const contact_id = await contactOf(reporter, id, unknown)
    const reversal_id = derivedId('outcome_reversal', organisation_id, id)
    const { state } = await ledgers.handle(
      contact_id,
      { type: 'ReverseOutcome', outcome_id: id, reversal_id, note, api_application_id, source, by, now: context.now },
      context,
    )
    const reversal = outcomeIn(state, reversal_id)
    if (!reversal) throw new Error(`Outcome ${id} was not reversed.`)
    return reversal
  }

  return {
    /** Records an outcome, or holds it. An event id stands for one report: with the same content it is the same answer. */
    report: async (reporter: Reporter, { event_id, lead, report }: Reporting, context: Context): Promise<Reported> => {
      const { organisation_id, api_application_id, source, by, sentBy } = reporter
      const id = event_id === null ? newId() : idOf(reporter, event_id)
      const earlier = event_id === null ? undefined : await reports.load(id)
      if (earlier) {
        refuseOtherContent({ report, lead }, earlier)
        return answer(id, earlier, true, context, sentBy)
      }
      const match = await matchLead(deps, organisation_id, lead, sentBy)
      refuseUnknownId(match)
      const { contact_id, held } = match
      const content = { organisation_id, api_application_id, source, event_id, report, lead, by, outcome_id: id }
      // What is refused must not use the event id up.
      if (contact_id !== null) await ledgers.preview(contact_id, await recordCommand(id, content, contact_id, sentBy))
      const command = { type: 'ReportOutcome', ...content, contact_id, held } as const
      const { state, events } = await reports.handle(id, command, context)
      if (!state) throw new Error(`Report ${id} was not taken in.`)
      return answer(id, state, events.length === 0, context, sentBy)
    },

    reverse,

    /** Reverses the outcome that was sent with an event id. Event ids are the senders' own: that of the reporter comes first. */
    reverseByEventId: async (reporter: Reporter, event_id: string, note: string | null, context: Context) => {
      const own = idOf(reporter, event_id)
      const isOwn = reporter.sentBy !== undefined || (await reports.load(own)) !== undefined
      const id = isOwn ? own : await onlyOutcomeSentAs(reporter.organisation_id, event_id)
      return reverse(reporter, id, note, context, noOutcomeSentAs)
    },

    /** Takes in what an event of another system says. What cannot be used, and what fits no lead, is held. */
    receive: async (
      { organisation_id, outcome_id, event_id, sent }: Received,
      read: ReadReceived,
      context: Context,
    ): Promise<void> => {
      const by = { type: 'system', name: null } as const
      const origin = { organisation_id, outcome_id, api_application_id: null, source: 'webhook', event_id, by } as const
      if ('fields' in read) {
        await reports.handle(
          outcome_id,
          { type: 'ReportInvalidOutcome', ...origin, sent, faults: read.fields },
          context,
        )
        return
      }
      const { report, lead } = read
      const { contact_id, held } = await matchLead(deps, organisation_id, lead, undefined)
      await reports.handle(outcome_id, { type: 'ReportOutcome', ...origin, report, lead, contact_id, held }, context)
    },

    /** Records an outcome whose lead is known. One that this lead cannot have is held. */
    settle: async (id: string, context: Context): Promise<void> => {
      const state = await reports.load(id)
      if (state?.status !== 'matched' || state.contact_id === null) return
      // The ledger knows the outcome by its id, so that it counts once whoever records it.
      try {
        await record(id, state, state.contact_id, withoutTarget(context), sentByOf(state))
      } catch (error) {
        if (!(error instanceof Rejection || error instanceof Problem) || !isRefusal(error.code)) throw error
        await reports.handle(id, { type: 'HoldMatchedOutcome', faults: { type: error.message } }, context)
      }
    },

    /** A person puts right what was wrong with a held outcome. */
    correct: async (
      { organisation_id, by }: Reporter,
      id: string,
      { report, lead }: Pick<Reporting, 'report' | 'lead'>,
      context: Context,
    ): Promise<Reported> => {
      const before = await reports.load(id)
      if (before?.organisation_id !== organisation_id) throw noOutcome()
      const match = await matchLead(deps, organisation_id, lead, undefined)
      refuseUnknownId(match)
      const { contact_id, held } = match
      if (contact_id !== null)
        await ledgers.preview(contact_id, await recordCommand(id, { ...before, report }, contact_id, sentByOf(before)))
      const command = { type: 'CorrectHeldOutcome', report, lead, contact_id, held, by } as const
      const { state, events } = await reports.handle(id, command, context)
      if (!state) throw noOutcome()
      return answer(id, state, events.length === 0, context, sentByOf(state))
    },

    /** A person says which lead a held outcome is about. */
    match: async (reporter: Reporter, id: string, contact_id: CustomerId, context: Context): Promise<Outcome> => {
      const { organisation_id, by } = reporter
      const report = await reports.load(id)
      if (report?.organisation_id !== organisation_id) throw noOutcome()
      if (!(await leads.find(organisation_id, contact_id)))
        throw new Problem('validation_failed', 'Correct contact_id: there is no such lead.', {
          fields: { contact_id: 'is no lead' },
        })
      await ledgers.preview(contact_id, await recordCommand(id, report, contact_id, sentByOf(report)))
      const { state } = await reports.handle(id, { type: 'MatchHeldOutcome', contact_id, by }, context)
      if (!state) throw noOutcome()
      return record(id, state, contact_id, context, sentByOf(state))
    },

    discard: async ({ organisation_id, by }: Reporter, id: string, context: Context): Promise<void> => {
      const report = await reports.load(id)
      if (report?.organisation_id !== organisation_id) throw noOutcome()
      await reports.handle(id, { type: 'DiscardHeldOutcome', by }, context)
    },
  }
}
