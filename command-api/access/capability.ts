import type { Capability } from '../capability.ts'
import { directoryFold } from '#domain/access/record.ts'
import { apiApplicationsSection } from './api-application-setup.ts'
import { accessRoutes } from './routes.ts'
import { tokenRoutes } from './token.ts'

export const access: Capability = {
  routes: accessRoutes,
  setupSections: (side) => [apiApplicationsSection(side)],
  ownForms: (side) => [
    tokenRoutes({
      ...side,
      requireCurrent: (organisation_id) => side.folds.requireCurrent(directoryFold.name, organisation_id),
    }),
  ],
}
