import type { Capability } from '../capability.ts'
import { eraseAgain } from './erase-again.ts'
import { leadsNotErased } from '../leads/live-leads.ts'
import { findStreams } from '#infra/people/find-streams.ts'
import { makeHoldOrErase } from './hold-or-erase.ts'
import { legalHoldRoutes } from './legal-hold-routes.ts'
import { erasureRoutes } from './routes.ts'
import { makeWhyPersonKept } from '../retention/why-person-kept.ts'
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
    reactions: [
      whenErasureRequestedErasePerson({
        ...side,
        leads: leadsNotErased(side),
        holdOrErase: makeHoldOrErase(side),
        whyPersonKept: makeWhyPersonKept(side),
      }),
    ],
    running: eraseAgain(side),
  }),
}
