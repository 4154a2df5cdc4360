import type { Capability } from '../capability.ts'
import { paymentAccountRoutes } from './routes.ts'
import { paymentAccountsSection } from './setup.ts'

export const paymentAccounts: Capability = {
  routes: paymentAccountRoutes,
  setupSections: (side) => [paymentAccountsSection(side)],
}
