import type { Capability } from '../capability.ts'
import { pipelineRoute } from './routes.ts'

export const pipeline: Capability = {
  routes: (side) => [pipelineRoute(side)],
}
