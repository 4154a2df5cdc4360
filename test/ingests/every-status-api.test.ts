import { expect, test } from 'vitest'
import { toStored, type Position } from '#domain/event.ts'
import { ingestEvents } from '#domain/ingests/events.ts'
import { IngestId } from '#domain/values.ts'
import { ingests } from '../../projections/ingests/projection.ts'
import { ingestRoutes, ownerOfIngest } from '../../query-api/ingests/routes.ts'
import { readModel } from '../read-model.ts'
import { serve } from '../serve.ts'
import { received, states } from './builders.ts'

test('200: an ingest is shown with each status that there is, from received until it is done', async () => {
  await using database = await readModel(ingests)
  const owners = { ingest: ownerOfIngest(database.pool, (_organisation_id, _id, find) => find()) }
  await using api = await serve(ingestRoutes({ db: database.pool }), undefined, { owners })

  for (const [status, events] of Object.entries(states)) {
    const ingest_id = IngestId.parse(crypto.randomUUID())
    const recorded = events.map((event, revision) => ({
      ...toStored(ingestEvents, 'ingest_id' in event ? { ...event, ingest_id } : event),
      id: crypto.randomUUID(),
      stream: `ingest-${ingest_id}`,
      revision,
      position: String(revision).padStart(20, '0') as Position,
      recorded_at: new Date(received.accepted_at),
      metadata: {
        organisation_id: received.organisation_id,
        actor: { type: 'system', id: null } as const,
        correlation_id: 'test',
        causation_id: null,
        occurred_at: received.accepted_at,
      },
    }))
    await database.apply(recorded)

    const answer = await api.get(`/api/v1/crm/ingests/${ingest_id}`)
    expect([answer.status, answer.body]).toMatchObject([200, { data: { id: ingest_id, status } }])
  }
}, 60_000)
