import type { Capability } from '../capability.ts'
import { deliveryOperatorRoutes } from './routes.ts'
import { deliverySettingsSection } from './setup.ts'

export const deliveries: Capability = {
  routes: deliveryOperatorRoutes,
  setupSections: ({ writer }) => [deliverySettingsSection(writer)],
}
