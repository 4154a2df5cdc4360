import { proposalEvents } from '#domain/approvals/events.ts'
import { evolveProposal } from '#domain/approvals/record.ts'
import { documentProjection } from '../document-projection.ts'

/** The acts that were proposed: waiting for a second user, and what became of each. The reasons are not among it. */
export const proposals = documentProjection({
  name: 'proposals',
  version: 1,
  categories: ['proposal'],
  events: proposalEvents,
  holdsNothingPersonal: true,
  evolve: evolveProposal,
  columns: {
    status: 'text',
    act: 'text',
    proposed_at: 'timestamptz',
    document: 'json',
  },
  indexes: [
    'organisation_id, proposed_at, id',
    'organisation_id, status, proposed_at, id',
    'organisation_id, act, proposed_at, id',
  ],
})
