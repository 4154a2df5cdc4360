import type { Capability } from '../capability.ts'
import { directoryFold } from '#domain/access/record.ts'
import { accessRoutes } from './routes.ts'
import { tokenRoutes } from './token.ts'

export const access: Capability = {
  routes: accessRoutes,
  ownForms: (side) => [
    tokenRoutes({
      ...side,
      requireCurrent: (organisation_id) => side.folds.requireCurrent(directoryFold.name, organisation_id),
    }),
  ],
}
