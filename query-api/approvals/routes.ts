import { z } from 'zod'
import { Act, ProposalId, proposalEvents } from '#domain/approvals/events.ts'
import { evolveProposal, Proposal, ProposalStatus } from '#domain/approvals/record.ts'
import { fromStored } from '#domain/event.ts'
import { notFound } from '#domain/rejection.ts'
import { OrganisationId } from '#domain/values.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { impersonalRoute, route, teamRoute, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { newestFirstRoute } from '../newest-first.ts'

const address = '/admin/v1/organisations/:organisation_id/approvals'
const roles = ['owner', 'finance', 'policies'] as const

const ProposalWithReasons = Proposal.extend({
  reason: z.string().nullable().describe('The reason that was given for the act; empty where its person was erased.'),
  rejection_reason: z.string().nullable(),
}).meta({ id: 'ProposalWithReasons' })

type Deps = { readonly pool: Database; readonly eventLog: Pick<EventLog, 'read'> }

/** From the log itself, which alone has the reasons: they may tell of a person. */
const readProposal = async (eventLog: Deps['eventLog'], id: string) => {
  const recorded = await eventLog.read(`proposal-${id}`, {})
  let record: Proposal | undefined
  let reason: string | null = null
  let rejection_reason: string | null = null
  for (const each of recorded) {
    const event = fromStored(proposalEvents, each)
    record = evolveProposal(record, event, each.metadata)
    if (event.type === 'ProposalMade') reason = event.note
    if (event.type === 'ProposalRejected') rejection_reason = event.note
  }
  return record && { ...record, reason, rejection_reason }
}

/** Acts that were proposed to a second user. */
export const approvalRoutes = ({ pool, eventLog }: Deps): Route[] => [
  newestFirstRoute(pool, {
    team: impersonalRoute(...roles),
    address,
    summary: 'List the acts that were proposed and wait for a second user, or have, newest first',
    table: 'proposals',
    time: 'proposed_at',
    filters: { status: ProposalStatus, act: Act },
    item: Proposal,
  }),
  route(
    {
      ...teamRoute(...roles),
      method: 'get',
      address: `${address}/:proposal_id`,
      summary: 'Show an act that was proposed, with what it would change and the reason that was given',
      path: z.object({ organisation_id: OrganisationId, proposal_id: ProposalId }),
      answers: { 200: z.object({ data: ProposalWithReasons }) },
    },
    async ({ path: { organisation_id, proposal_id } }) => {
      const data = await readProposal(eventLog, proposal_id)
      if (data?.organisation_id !== organisation_id) throw notFound('proposal')
      return { status: 200, body: { data } }
    },
  ),
]
