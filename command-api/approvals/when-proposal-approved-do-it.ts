import { proposalEvents } from '#domain/approvals/events.ts'
import { proposal } from '#domain/approvals/proposal.ts'
import { idOf } from '#domain/event.ts'
import { Rejection } from '#domain/rejection.ts'
import { Problem } from '#infra/http/problem.ts'
import type { Reaction } from '../reactions/reaction.ts'
import { ChangedSince } from '../writing/approval.ts'
import { commandHandler, withoutTarget } from '../writing/handle.ts'
import { makeDoApproved, type DoDeps } from './do-approved.ts'

const { ProposalApproved } = proposalEvents

/** A refusal that stays one, however often the act is tried. */
const isRefusal = (error: unknown): error is Problem =>
  error instanceof Problem && (error.code === 'conflict' || error.code === 'not_found')

/** Does, once, what was approved. The approver is who acts. What has changed in the meantime is not done, and said. */
export const whenProposalApprovedDoIt = (deps: DoDeps): Reaction<{ ProposalApproved: typeof ProposalApproved }> => {
  const { handle, load } = commandHandler(deps.writer, proposal)
  const { act } = makeDoApproved(deps)

  return {
    name: 'when-proposal-approved-do-it',
    categories: ['proposal'],
    events: { ProposalApproved },
    target: ({ stream }) => stream,
    react: async ({ approved_by }, { stream }, context) => {
      const id = idOf(stream)
      const state = await load(id)
      if (state?.record.status !== 'approved') return
      const outcome = await act(state, { ...context, actor: { type: 'user', id: approved_by } }).then(
        () => ({ type: 'Finish' }) as const,
        (error: unknown) => {
          if (error instanceof ChangedSince || error instanceof Rejection || isRefusal(error))
            return { type: 'Void', found: 'approved', because: error.message } as const
          throw error
        },
      )
      await handle(id, outcome, withoutTarget(context))
    },
  }
}
