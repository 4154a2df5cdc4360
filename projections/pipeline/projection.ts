import { idOf } from '#domain/event.ts'
import { pipelineEvents, type Pipeline } from '#domain/pipeline/events.ts'
import type { Projection } from '../projection.ts'

type Row = { readonly organisation_id: string; readonly document: Pipeline }

/** The pipeline of each organisation: its stages, its team and the fields that it has set up. */
export const pipelines: Projection<typeof pipelineEvents, Row, 'organisation_id'> = {
  name: 'pipelines',
  version: 2,
  awaited: 'never',
  categories: ['pipeline'],
  events: pipelineEvents,
  table: { columns: { organisation_id: 'uuid', document: 'json' }, key: ['organisation_id'] },
  keys: (_event, { stream }) => [{ organisation_id: idOf(stream) }],
  project: (_row, { pipeline }, _recorded, key) => ({ ...key, document: pipeline }),
}
