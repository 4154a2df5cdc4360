import type { Capability } from '../capability.ts'
import { operatorKeyRoutes } from './routes.ts'

export const operatorKeys: Capability = {
  routes: operatorKeyRoutes,
}
