import type { Capability } from '../capability.ts'
import { consumerRoutes } from './routes.ts'

export const consumers: Capability = {
  routes: consumerRoutes,
}
