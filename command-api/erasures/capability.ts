import type { Capability } from '../capability.ts'
import { eraseAgain } from './erase-again.ts'
import { leadsNotErased } from '../leads/live-leads.ts'
import { erasureRoutes } from './routes.ts'
import { whenErasureRequestedErasePerson } from './when-erasure-requested-erase-person.ts'

export const erasures: Capability = {
  routes: (side) => erasureRoutes({ ...side, leads: leadsNotErased(side) }),
  work: (side) => ({ reactions: [whenErasureRequestedErasePerson(side)], running: eraseAgain(side) }),
}
