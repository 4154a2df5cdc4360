import type { Capability } from '../capability.ts'
import { paymentAccountRoutes } from './routes.ts'

export const paymentAccounts: Capability = {
  routes: paymentAccountRoutes,
}
