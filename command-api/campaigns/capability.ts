import type { Capability } from '../capability.ts'
import { campaignRoutes } from './routes.ts'

export const campaigns: Capability = {
  routes: campaignRoutes,
}
