import type { Capability } from '../capability.ts'
import { signInProviderRoutes } from './provider-routes.ts'
import { providerSignInRoutes } from './provider-sign-in.ts'
import { sessionRoutes } from './session-routes.ts'

export const signIn: Capability = {
  routes: (side) => [...sessionRoutes(side), ...providerSignInRoutes(side), ...signInProviderRoutes(side)],
}
