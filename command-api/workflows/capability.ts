import type { Capability } from '../capability.ts'
import { lifecycleActionRoutes } from './routes.ts'
import { namedTargets } from './workflow-choices.ts'
import { workflowRoutes } from './workflow-routes.ts'

export const workflows: Capability = {
  routes: (side) => [
    ...lifecycleActionRoutes(side),
    ...workflowRoutes({ ...side, targets: namedTargets(side.writer.log, side.catalogue) }),
  ],
}
