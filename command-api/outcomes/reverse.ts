import { outcomeIn, reporterOf } from '#domain/outcomes/outcomes.ts'
import type { Outcome } from '#domain/outcomes/record.ts'
import type { Rejection } from '#domain/rejection.ts'
import { CustomerId, type OrganisationId } from '#domain/values.ts'
import { findShown, untilShown } from '#infra/consumers/until-shown.ts'
import { Problem } from '#infra/http/problem.ts'
import { derivedId } from '#infra/ids.ts'
import { sql } from '#infra/postgres/postgres.ts'
import type { Context } from '../writing/handle.ts'
import { idOf, noOutcome, type OutcomeStreams, type Reporter } from './outcome-streams.ts'

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

/** The lead of an outcome that the reporter may see. */
const contactOf = async (
  streams: OutcomeStreams,
  { organisation_id, sentBy }: Reporter,
  id: string,
  unknown: () => Problem | Rejection,
): Promise<CustomerId> => {
  const { reports, ledgers, leads } = streams
  const report = await reports.load(id)
  const contact_id =
    report?.organisation_id === organisation_id
      ? report.contact_id
      : await contactInReadModel(streams, organisation_id, id)
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
const contactInReadModel = async (
  { shown, pool }: OutcomeStreams,
  organisation_id: OrganisationId,
  id: string,
): Promise<CustomerId | undefined> =>
  findShown(shown, 'outcomes', async () => {
    const { rows } = await pool.query<{ contact_id: string }>(
      sql`select contact_id from outcomes
        where organisation_id = ${organisation_id} and viewer_id = ${organisation_id} and id = ${id}`,
    )
    return rows[0] && CustomerId.parse(rows[0].contact_id)
  })

const onlyOutcomeSentAs = async (
  { shown, pool }: OutcomeStreams,
  organisation_id: OrganisationId,
  event_id: string,
): Promise<string> => {
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

export const reverse =
  (streams: OutcomeStreams) =>
  async (
    reporter: Reporter,
    id: string,
    note: string | null,
    context: Context,
    unknown: () => Problem | Rejection = noOutcome,
  ): Promise<Outcome> => {
    const { organisation_id, api_application_id, source, by } = reporter
    const contact_id = await contactOf(streams, reporter, id, unknown)
    const reversal_id = derivedId('outcome_reversal', organisation_id, id)
    const { state } = await streams.ledgers.handle(
      contact_id,
      { type: 'ReverseOutcome', outcome_id: id, reversal_id, note, api_application_id, source, by, now: context.now },
      context,
    )
    const reversal = outcomeIn(state, reversal_id)
    if (!reversal) throw new Error(`Outcome ${id} was not reversed.`)
    return reversal
  }

/** Reverses the outcome that was sent with an event id. Event ids are the senders' own: that of the reporter comes first. */
export const reverseByEventId =
  (streams: OutcomeStreams) => async (reporter: Reporter, event_id: string, note: string | null, context: Context) => {
    const own = idOf(reporter, event_id)
    const isOwn = reporter.sentBy !== undefined || (await streams.reports.load(own)) !== undefined
    const id = isOwn ? own : await onlyOutcomeSentAs(streams, reporter.organisation_id, event_id)
    return reverse(streams)(reporter, id, note, context, noOutcomeSentAs)
  }
