import type { Capability } from '../capability.ts'
import { endpointConnectionRoutes } from './routes.ts'

export const integrations: Capability = {
  routes: endpointConnectionRoutes,
}
