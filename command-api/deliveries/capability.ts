import type { Capability } from '../capability.ts'
import { deliveryOperatorRoutes } from './routes.ts'

export const deliveries: Capability = {
  routes: deliveryOperatorRoutes,
}
