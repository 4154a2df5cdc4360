import { idOf } from '#domain/event.ts'
import { ingestEvents } from '#domain/ingests/events.ts'
import { ingest, isIngest, type IngestCommand, type IngestState } from '#domain/ingests/ingest.ts'
import { makeRequirements } from './requirements.ts'
import { commandHandler, type Context } from '../writing/handle.ts'
import type { Reaction } from '../reactions/reaction.ts'
import { later, orDefer, type DeferralDeps } from './deferral.ts'
import { makeReadIngest, whatReads, type ReadIngestDeps } from './read-ingest.ts'
import type { LeadReader } from './reader.ts'

type Deps = ReadIngestDeps & DeferralDeps & { readonly reader: Pick<LeadReader, 'read'> }

const { IngestResolved, IngestRetried } = ingestEvents

const reading = { IngestResolved, IngestRetried }

/** Leads that an outside reader must read are read once the person is identified. A slow reader holds up no other step. */
export const whenIngestResolvedReadIt = (deps: Deps): Reaction<typeof reading> => {
  const { handle, loadFrom } = commandHandler(deps.writer, ingest)
  const { requirementsOf } = makeRequirements(deps.writer)
  const { materialOf, write } = makeReadIngest(deps)

  const read = async (state: IngestState, context: Context): Promise<IngestCommand> => {
    const { record } = state
    const { contact_id } = record
    if (contact_id === null) throw new Error(`Ingest ${record.id} is read, and nobody knows who it is about.`)
    const requirements = await requirementsOf(record.organisation_id, record.campaign?.key)
    const found = await deps.reader.read(materialOf(state, requirements, context))
    switch (found.outcome) {
      case 'deferred':
        return {
          type: 'DeferIngest',
          step: 'extracting',
          reason: found.reason,
          retry_after: found.retry_at ?? later(deps.clock, record.attempt),
          isTry: found.isTry,
        }
      case 'unreadable':
        return { type: 'FailIngest', step: 'extracting', reason: found.reason }
      case 'read':
        return { type: 'ApplyIngest', ...(await write(state, contact_id, found, context)) }
    }
  }

  return {
    name: whatReads,
    categories: ['ingest'],
    events: reading,
    target: (_event, { stream }) => stream,
    takesTurns: true,
    react: async (_event, { stream, revision }, context) => {
      const id = idOf(stream)
      const state = await loadFrom(id, revision)
      if (!isIngest(state) || state.record.status !== 'extracting') return
      await handle(id, await orDefer(state, 'extracting', context, deps, () => read(state, context)), context)
    },
  }
}
