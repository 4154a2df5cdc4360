import { proposalEvents, type ProposalEvent } from '#domain/approvals/events.ts'

export const isOfProposal = (event: { readonly type: string }): event is ProposalEvent => event.type in proposalEvents

/** When a proposal expires; null: it was decided, and does not. */
export const proposalDueTime = (event: ProposalEvent): string | null =>
  event.type === 'ProposalMade' ? event.expires_at : null
