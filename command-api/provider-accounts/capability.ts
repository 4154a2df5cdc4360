import type { Capability } from '../capability.ts'
import { providerAccountRoutes } from './routes.ts'

export const providerAccounts: Capability = {
  routes: providerAccountRoutes,
}
