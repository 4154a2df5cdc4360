import type { Capability } from '../capability.ts'
import { claimRoutes } from './routes.ts'

export const claims: Capability = { routes: claimRoutes }
