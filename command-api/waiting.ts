import { z } from 'zod'
import { ProposalId } from '#domain/approvals/events.ts'

/** The answer to an act that was proposed and not done, since the organisation asks for a second user. */
export const Waiting = z
  .object({
    data: z.object({
      status: z.literal('waiting'),
      proposal_id: ProposalId,
      address: z.string().describe('Where the proposal is shown.'),
      next: z.string().describe('How it goes on.'),
    }),
  })
  .meta({ id: 'WaitingForApproval' })

/** Among the answers of each route whose act may have to be approved by another user. */
export const mayWait = { 202: Waiting } as const
