import { z } from 'zod'
import type { Directory } from '#domain/access/record.ts'
import { proposalEvents } from '#domain/approvals/events.ts'
import { evolveProposal, type Proposal } from '#domain/approvals/record.ts'
import { fromStored, type RecordedEvent } from '#domain/event.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { userNames } from '../../user-names.ts'
import { named, Who, whoOf } from '../who.ts'

/** An act, with who did it, and who had proposed and approved it where a second user was asked for. */
export const Done = z
  .object({
    event_id: z.uuid(),
    at: z.iso.datetime().describe('In business time.'),
    recorded_at: z.iso.datetime(),
    request_id: z.string(),
    who: Who.describe('After an approval it is who approved it.'),
    approval: z
      .object({
        proposal_id: z.uuid(),
        proposed_at: z.iso.datetime(),
        proposed_by: Who,
        approved_at: z.iso.datetime().nullable(),
        approved_by: Who.nullable(),
        changes_count: z.int().describe('The number of values that it would change, as they were shown to both.'),
      })
      .nullable()
      .describe('null: no second user was asked for.'),
  })
  .meta({ id: 'ActDone' })
type Done = z.input<typeof Done>

export type Doer = (recorded: RecordedEvent) => Promise<Done>

type Deps = { readonly eventLog: Pick<EventLog, 'read'>; readonly applications: Directory['applications'] }

const mostEvents = 100

const proposalOf = async ({ eventLog }: Deps, { metadata }: RecordedEvent): Promise<Proposal | undefined> => {
  const { cause } = metadata
  if (!cause?.stream.startsWith('proposal-')) return undefined
  let proposal: Proposal | undefined
  for (const recorded of await eventLog.read(cause.stream, { limit: mostEvents }))
    proposal = evolveProposal(proposal, fromStored(proposalEvents, recorded), recorded.metadata)
  return proposal
}

/** Finds who did what, with names, for one answer. */
export const makeDoneBy = (deps: Deps): Doer => {
  const nameOf = userNames(deps.eventLog)
  const actedBySelf = { causation_id: null }
  const whoIs = async (actor: Proposal['proposed_by']) => named(whoOf(deps.applications, actor, actedBySelf), nameOf)

  return async (recorded) => {
    const { id, recorded_at, metadata } = recorded
    const proposal = await proposalOf(deps, recorded)
    return {
      event_id: id,
      at: metadata.occurred_at,
      recorded_at: recorded_at.toISOString(),
      request_id: metadata.correlation_id,
      who: await named(whoOf(deps.applications, metadata.actor, metadata), nameOf),
      approval: proposal
        ? {
            proposal_id: proposal.id,
            proposed_at: proposal.proposed_at,
            proposed_by: await whoIs(proposal.proposed_by),
            approved_at: proposal.decided_at,
            approved_by: proposal.decided_by && (await whoIs(proposal.decided_by)),
            changes_count: proposal.changes_count,
          }
        : null,
    }
  }
}
