import type { Capability } from '../capability.ts'
import { catalogueAdminRoutes } from './routes.ts'

export const catalogue: Capability = {
  routes: catalogueAdminRoutes,
}
