import type { Capability } from '../capability.ts'
import { lifecycleActionRoutes } from './routes.ts'
import { lifecycleActionsSection } from './setup.ts'
import { namedTargets } from './workflow-choices.ts'
import { workflowRoutes } from './workflow-routes.ts'
import { workflowsSection } from './workflow-setup.ts'

/** In a set-up file, they come before what workflows name. */
export const lifecycleActions: Capability = {
  routes: lifecycleActionRoutes,
  setupSections: (side) => [lifecycleActionsSection(side)],
}

export const workflows: Capability = {
  routes: (side) => workflowRoutes({ ...side, targets: namedTargets(side.writer.log, side.catalogue) }),
  setupSections: ({ writer, catalogue }) => [
    workflowsSection({ writer, targets: namedTargets(writer.log, catalogue) }),
  ],
}
