import { z } from 'zod'
import { Act, ProposalId, proposalEvents, ProposedChange } from '#domain/approvals/events.ts'
import { evolveProposal, Proposal, ProposalStatus } from '#domain/approvals/record.ts'
import { fromStored } from '#domain/event.ts'
import { notFound } from '#domain/rejection.ts'
import { OrganisationId } from '#domain/values.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { cursorOf, readCursorAs } from '#infra/http/cursor.ts'
import { impersonalRoute, route, teamRoute, type Route } from '#infra/http/route.ts'
import { inDigits } from '#infra/http/whole-number.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { newestFirstRoute } from '../newest-first.ts'
import { pageParameters } from '../page.ts'
import { userNames } from '../user-names.ts'

const address = '/admin/v1/organisations/:organisation_id/approvals'
const roles = ['owner', 'finance', 'policies'] as const

const ProposalWithReasons = Proposal.extend({
  reason: z.string().nullable().describe('The reason that was given for the act; empty where its person was erased.'),
  rejection_reason: z.string().nullable(),
  proposed_by_name: z.string().nullable().describe('Of a user; null: a program.'),
  decided_by_name: z.string().nullable(),
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
  if (!record) return undefined
  const nameOf = userNames(eventLog)
  const named = async (actor: Proposal['decided_by']) =>
    actor?.type === 'user' && actor.id !== null ? nameOf(actor.id) : null
  const [proposed_by_name, decided_by_name] = await Promise.all([named(record.proposed_by), named(record.decided_by)])
  return { ...record, reason, rejection_reason, proposed_by_name, decided_by_name }
}

/** The number of changes that were shown before. */
const Place = z.tuple([inDigits(z.int())])

const readChanges = async (
  eventLog: Deps['eventLog'],
  { organisation_id, proposal_id }: { readonly organisation_id: OrganisationId; readonly proposal_id: ProposalId },
): Promise<readonly ProposedChange[]> => {
  const [first] = await eventLog.read(`proposal-${proposal_id}`, { limit: 1 })
  const made = first && fromStored(proposalEvents, first)
  if (made?.type !== 'ProposalMade' || made.organisation_id !== organisation_id) throw notFound('proposal')
  return made.changes
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
  route(
    {
      ...impersonalRoute(...roles),
      method: 'get',
      address: `${address}/:proposal_id/changes`,
      summary: 'List all values that an act which was proposed would change, as they were then',
      path: z.object({ organisation_id: OrganisationId, proposal_id: ProposalId }),
      query: z.object(pageParameters),
      answers: { 200: z.object({ data: z.array(ProposedChange), next_cursor: z.string().nullable() }) },
    },
    async ({ path, query: { limit, cursor } }) => {
      const changes = await readChanges(eventLog, path)
      const [from] = cursor === undefined ? [0] : readCursorAs(cursor, Place)
      const until = from + limit
      const next_cursor = until < changes.length ? cursorOf([String(until)]) : null
      return { status: 200, body: { data: changes.slice(from, until), next_cursor } }
    },
  ),
]
