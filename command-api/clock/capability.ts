import type { Capability } from '../capability.ts'
import { clockRoutes } from './routes.ts'

export const clock: Capability = {
  routes: clockRoutes,
}
