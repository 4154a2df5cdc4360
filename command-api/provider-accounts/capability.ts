import type { Capability } from '../capability.ts'
import { providerAccountRoutes } from './routes.ts'
import { providerAccountsSection } from './setup.ts'

export const providerAccounts: Capability = {
  routes: providerAccountRoutes,
  setupSections: (side) => [providerAccountsSection(side)],
}
