import type { Capability } from '../capability.ts'
import { endpointConnectionRoutes } from './routes.ts'
import { endpointConnectionsSection } from './setup.ts'

export const integrations: Capability = {
  routes: endpointConnectionRoutes,
  setupSections: (side) => [endpointConnectionsSection(side)],
}
