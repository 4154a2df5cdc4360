import type { Decider } from '../decider.ts'
import type { Actor } from '../event.ts'
import { isSameActor, isSameParty, type Makers } from '../makers.ts'
import { notFound, Rejection } from '../rejection.ts'
import type { UserId } from '../values.ts'
import { proposalEvents, type ProposalEvent } from './events.ts'
import { evolveProposal, type Proposal } from './record.ts'

type Made = Extract<ProposalEvent, { type: 'ProposalMade' }>

export type ProposalCommand =
  | ({ readonly type: 'Propose' } & Omit<Made, 'type'>)
  | { readonly type: 'Approve'; readonly by: UserId; readonly key_made_by: Makers; readonly now: string }
  | { readonly type: 'Reject'; readonly by: Actor; readonly note: string | null }
  | { readonly type: 'Withdraw'; readonly by: Actor }
  /** As the one who voids it has found it: what another has approved meanwhile may be done by now. */
  | { readonly type: 'Void'; readonly found: 'waiting' | 'approved'; readonly because: string }
  | { readonly type: 'Expire'; readonly now: string }
  | { readonly type: 'Finish' }

/** A proposal as the command side knows it: with what is to be done when it is approved. */
export type ProposalState = {
  readonly record: Proposal
  readonly made: Omit<Made, 'changes'>
}

const refuseUnlessWaiting = ({ status, expires_at }: Proposal, now?: string): void => {
  if (status !== 'waiting')
    throw new Rejection('conflict', `This proposal is ${status}. Only one that is waiting can be decided.`)
  if (now !== undefined && expires_at <= now)
    throw new Rejection('conflict', 'This proposal has expired. Propose it again.')
}

/** Refuses an approval where one and the same may have acted in both names, with keys that they made for colleagues. */
const refuseOneBehindBoth = (approver: Actor, approverKeyMadeBy: Makers, proposers: Makers): void => {
  const isProposer = (actor: Actor) => proposers.some((each) => isSameParty(each, actor))
  if (approverKeyMadeBy.some(isProposer))
    throw new Rejection(
      'forbidden',
      'Who has proposed this, or has made the key that it was proposed with, has also made the key or the link that you approve with. Replace the first key that you were given yourself and at once (POST …/keys/{key_id}/rotate), sign in by the provider with your verified email, ask somebody else for a key, or let another user approve.',
    )
  if (isProposer(approver))
    throw new Rejection(
      'forbidden',
      'You have made the key that this was proposed with. Let another user approve it; or who has proposed it withdraws it, makes their key their own, and proposes it again.',
    )
}

/** Of what was proposed to a version before, which did not look. */
export const unknownMakers = 'Nobody knows who made the key that this was proposed with.'

const approve = (
  { by, key_made_by, now }: Extract<ProposalCommand, { type: 'Approve' }>,
  { record, made }: ProposalState,
): readonly ProposalEvent[] => {
  const approver = { type: 'user', id: by } as const
  if (isSameActor(record.proposed_by, approver))
    throw new Rejection('forbidden', 'You have proposed this. Another user must approve it.')
  const isApproved = record.status === 'approved' || record.status === 'done'
  if (isApproved && isSameActor(record.decided_by, approver)) return []
  if (made.key_made_by === null)
    throw new Rejection('conflict', `${unknownMakers} Withdraw or reject it, and propose it again.`)
  refuseOneBehindBoth(approver, key_made_by, [made.proposed_by, ...made.key_made_by])
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
      return approve(command, state)
    case 'Reject':
      return reject(command.by, command.note, state)
    case 'Withdraw':
      return withdraw(command.by, state)
    case 'Void':
      return record.status === command.found ? [{ type: 'ProposalVoided', because: command.because }] : []
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
    if (event.type !== 'ProposalMade') return state && { ...state, record }
    const { changes: _, ...made } = event
    return { record, made }
  },
}
