import type { Capability } from '../capability.ts'
import { sessionRoutes } from './session-routes.ts'

export const signIn: Capability = {
  routes: (side) => sessionRoutes(side),
}
