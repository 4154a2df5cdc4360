import type { Capability } from '../capability.ts'
import { apiApplication } from '#domain/access/api-application.ts'
import { directoryFold } from '#domain/access/record.ts'
import { accessRoutes } from './routes.ts'
import { tokenRoutes } from './token.ts'
import { commandHandler } from '../writing/handle.ts'

export const access: Capability = {
  routes: accessRoutes,
  ownForms: (side) => [
    tokenRoutes({
      ...side,
      load: commandHandler(side.writer, apiApplication).load,
      requireCurrent: (organisation_id) => side.folds.requireCurrent(directoryFold.name, organisation_id),
    }),
  ],
}
