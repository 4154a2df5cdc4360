import type { Capability } from '../capability.ts'
import { complaintOverdueTimer } from './call-overdue.ts'
import { complaintActRoutes } from './act-routes.ts'
import { openComplaintRoute } from './open-route.ts'

export const complaints: Capability = {
  routes: (side) => [openComplaintRoute(side), ...complaintActRoutes(side)],
  work: (side) => ({ timers: [complaintOverdueTimer(side.writer)] }),
}
