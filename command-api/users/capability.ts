import type { Capability } from '../capability.ts'
import { userRoutes } from './routes.ts'

export const users: Capability = {
  routes: userRoutes,
}
