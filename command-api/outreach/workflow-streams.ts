import type { JoinedBy } from '#domain/outreach/events.ts'
import type { OutreachStream } from '#domain/outreach/record.ts'
import type { Workflow } from '#domain/workflows/record.ts'
import type { LiveOutreach } from './streams.ts'

export type Joining = { readonly stream: OutreachStream; readonly by: JoinedBy }

/** The streams that people join because of workflows. */
export const streamsThatWorkflowsName = (live: LiveOutreach, workflows: readonly Workflow[]): readonly Joining[] =>
  workflows.flatMap(({ id, organisation_id, actions }) =>
    actions.flatMap((action): Joining[] => {
      const stream = action.kind === 'outreach_stream' ? live.streams.get(action.outreach_stream_id) : undefined
      return stream?.organisation_id === organisation_id ? [{ stream, by: { type: 'workflow', id } }] : []
    }),
  )

/** Each stream once: the first who asks for it has the person join. */
export const eachOnce = (joining: readonly Joining[]): readonly Joining[] =>
  joining.filter(({ stream }, index) => joining.findIndex((other) => other.stream.id === stream.id) === index)
