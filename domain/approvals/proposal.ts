import type { Decider } from '../decider.ts'
import type { Actor } from '../event.ts'
import { notFound, Rejection } from '../rejection.ts'
import type { UserId } from '../values.ts'
import { proposalEvents, type ProposalEvent } from './events.ts'
import { evolveProposal, isOpen, type Proposal } from './record.ts'

type Made = Extract<ProposalEvent, { type: 'ProposalMade' }>

export type ProposalCommand =
  | ({ readonly type: 'Propose' } & Omit<Made, 'type'>)
  | { readonly type: 'Approve'; readonly by: UserId; readonly now: string }
  | { readonly type: 'Reject'; readonly by: Actor; readonly note: string | null }
  | { readonly type: 'Withdraw'; readonly by: Actor }
  | { readonly type: 'Void'; readonly because: string }
  | { readonly type: 'Expire'; readonly now: string }
  | { readonly type: 'Finish' }

/** A proposal as the command side knows it: with what is to be done when it is approved. */
export type ProposalState = {
  readonly record: Proposal
  readonly made: Made
}

const isSameActor = (one: Actor | null, other: Actor): boolean => one?.type === other.type && one.id === other.id

const refuseUnlessWaiting = ({ status, expires_at }: Proposal, now?: string): void => {
  if (status !== 'waiting')
    throw new Rejection('conflict', `This proposal is ${status}. Only one that is waiting can be decided.`)
  if (now !== undefined && expires_at <= now)
    throw new Rejection('conflict', 'This proposal has expired. Propose it again.')
}

const approve = (by: UserId, now: string, { record, made }: ProposalState): readonly ProposalEvent[] => {
  const approver = { type: 'user', id: by } as const
  if (isSameActor(record.proposed_by, approver))
    throw new Rejection('forbidden', 'You have proposed this. Another user must approve it.')
  const isApproved = record.status === 'approved' || record.status === 'done'
  if (isApproved && isSameActor(record.decided_by, approver)) return []
  refuseUnlessWaiting(record, now)
  return [{ type: 'ProposalApproved', stream: made.stream, approved_by: by }]
}

const withdraw = (by: Actor, { record }: ProposalState): readonly ProposalEvent[] => {
  if (!isSameActor(record.proposed_by, by))
    throw new Rejection('forbidden', 'Only who has proposed this can withdraw it. Others reject it.')
  if (record.status === 'withdrawn') return []
  refuseUnlessWaiting(record)
  return [{ type: 'ProposalWithdrawn', withdrawn_by: by }]
}

const reject = (by: Actor, note: string | null, { record, made }: ProposalState): readonly ProposalEvent[] => {
  if (isSameActor(record.proposed_by, by))
    throw new Rejection('forbidden', 'You have proposed this. Withdraw it, or let another user reject it.')
  if (record.status === 'rejected' && isSameActor(record.decided_by, by)) return []
  refuseUnlessWaiting(record)
  return [{ type: 'ProposalRejected', rejected_by: by, note, customer_id: made.customer_id }]
}

const decide = (command: ProposalCommand, state: ProposalState | undefined): readonly ProposalEvent[] => {
  if (command.type === 'Propose') return state ? [] : [{ ...command, type: 'ProposalMade' }]
  if (!state) throw notFound('proposal')
  const { record } = state
  switch (command.type) {
    case 'Approve':
      return approve(command.by, command.now, state)
    case 'Reject':
      return reject(command.by, command.note, state)
    case 'Withdraw':
      return withdraw(command.by, state)
    case 'Void':
      return isOpen(record) ? [{ type: 'ProposalVoided', because: command.because }] : []
    case 'Expire':
      return record.status === 'waiting' && record.expires_at <= command.now
        ? [{ type: 'ProposalExpired', proposal_id: record.id }]
        : []
    case 'Finish':
      return record.status === 'approved' ? [{ type: 'ProposalDone', proposal_id: record.id }] : []
  }
}

export const proposal: Decider<ProposalCommand, typeof proposalEvents, ProposalState | undefined> = {
  category: 'proposal',
  events: proposalEvents,
  initialState: undefined,
  decide,
  evolve: (state, event, recorded) => {
    const record = evolveProposal(state?.record, event, recorded)
    if (!record) return undefined
    return event.type === 'ProposalMade' ? { record, made: event } : state && { ...state, record }
  },
}
