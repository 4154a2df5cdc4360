import type { Capability } from '../capability.ts'
import { pipelineRoute } from './routes.ts'
import { pipelineSections } from './setup.ts'

export const pipeline: Capability = {
  routes: (side) => [pipelineRoute(side)],
  setupSections: ({ writer }) => pipelineSections(writer),
}
