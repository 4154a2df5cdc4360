import { z } from 'zod'
import { OrganisationId } from '#domain/values.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { pageParameters, Revision } from './page.ts'

/** One thing that happened to a record, as the operator sees it. */
export const TimelineEntry = z
  .object({
    event_id: z.uuid(),
    revision: z.int(),
    type: z.string().describe('What happened, as it is stored.'),
    actor: z
      .object({ type: z.string(), id: z.string().nullable() })
      .describe('Of the operator: the name of the key. Of `api`: the API application.'),
    occurred_at: z.iso.datetime(),
    details: z.record(z.string(), z.unknown()).describe('Without what is personal.'),
  })
  .meta({ id: 'TimelineEntry' })

export const Timeline = z.object({ data: z.array(TimelineEntry), next_cursor: z.string().nullable() })

export const timelineParameters = z.object({
  organisation_id: OrganisationId,
  limit: pageParameters.limit,
  cursor: Revision.optional().describe('The next_cursor of an earlier answer.'),
})

type Row = {
  readonly event_id: string
  readonly revision: number
  readonly type: string
  readonly actor_type: string
  readonly actor_id: string | null
  readonly occurred_at: Date
  readonly document: Record<string, unknown>
}

/** A page of what happened to a record, oldest first, from a table that `timelineOf` of the projections fills. */
export const readTimeline = async (
  db: Database,
  table: 'application_timeline' | 'policy_timeline',
  record_id: string,
  { organisation_id, limit, cursor = -1 }: z.output<typeof timelineParameters>,
): Promise<z.input<typeof Timeline>> => {
  const { rows } = await db.query<Row>({
    text: `select event_id, revision, type, actor_type, actor_id, occurred_at, document from ${table}
      where organisation_id = $1 and record_id = $2 and revision > $3 order by revision limit $4`,
    values: [organisation_id, record_id, cursor, limit + 1],
  })
  const page = rows.slice(0, limit)
  const last = rows.length > limit ? page.at(-1) : undefined
  const data = page.map(({ actor_type, actor_id, occurred_at, document, ...entry }) => ({
    ...entry,
    actor: { type: actor_type, id: actor_id },
    occurred_at: occurred_at.toISOString(),
    details: document,
  }))
  return { data, next_cursor: last ? String(last.revision) : null }
}
