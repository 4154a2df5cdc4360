import type { Capability } from '../capability.ts'
import { leadsNotErased } from '../leads/live-leads.ts'
import { expireProposals } from './expire-proposals.ts'
import { approvalRoutes } from './routes.ts'
import { whenProposalApprovedDoIt } from './when-proposal-approved-do-it.ts'

export const approvals: Capability = {
  routes: (side) => approvalRoutes({ ...side, leads: leadsNotErased(side) }),
  work: (side) => ({
    reactions: [whenProposalApprovedDoIt({ ...side, leads: leadsNotErased(side) })],
    timers: [expireProposals(side.writer)],
  }),
}
