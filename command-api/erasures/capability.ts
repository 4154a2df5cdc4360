import type { Capability } from '../capability.ts'
import { eraseAgain } from './erase-again.ts'
import { leadsNotErased } from '../leads/live-leads.ts'
import { findStreams } from '#infra/people/find-streams.ts'
import { makeHoldOrErase } from './hold-or-erase.ts'
import { legalHoldRoutes } from './legal-hold-routes.ts'
import { erasureRoutes } from './routes.ts'
import { whenErasureRequestedErasePerson } from './when-erasure-requested-erase-person.ts'

export const erasures: Capability = {
  routes: (side) => [
    ...erasureRoutes({ ...side, leads: leadsNotErased(side) }),
    ...legalHoldRoutes({
      ...side,
      holdOrErase: makeHoldOrErase(side),
      isOf: async (person, stream) => (await findStreams(side, person, [])).streams.includes(stream),
    }),
  ],
  work: (side) => ({
    reactions: [whenErasureRequestedErasePerson({ ...side, holdOrErase: makeHoldOrErase(side) })],
    running: eraseAgain(side),
  }),
}
