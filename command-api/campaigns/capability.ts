import type { Capability } from '../capability.ts'
import { campaignRoutes } from './routes.ts'
import { campaignsSection, leadIntakeSections } from './setup.ts'

export const campaigns: Capability = {
  routes: campaignRoutes,
  setupSections: ({ writer }) => [campaignsSection(writer), ...leadIntakeSections(writer)],
}
