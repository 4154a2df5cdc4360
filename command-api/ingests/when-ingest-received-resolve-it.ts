import { idOf } from '#domain/event.ts'
import { ingestEvents } from '#domain/ingests/events.ts'
import { ingest, isIngest, type IngestCommand, type IngestState } from '#domain/ingests/ingest.ts'
import { isTransient } from '#infra/consumers/failures.ts'
import { makeRequirements } from './requirements.ts'
import { commandHandler, type Context } from '../writing/handle.ts'
import type { Reaction } from '../reactions/reaction.ts'
import { orDefer, type DeferralDeps } from './deferral.ts'
import { makeReadIngest, whatReads, type ReadIngestDeps } from './read-ingest.ts'
import type { LeadReader } from './reader.ts'
import { makeResolve, type ResolveDeps } from './resolve.ts'

type Deps = ResolveDeps & ReadIngestDeps & DeferralDeps & { readonly reader: Pick<LeadReader, 'readAtOnce'> }

const { IngestReceived, IngestResolutionStarted, IngestAccepted, IngestPersonPicked, IngestRetried } = ingestEvents

const resolving = { IngestReceived, IngestResolutionStarted, IngestAccepted, IngestPersonPicked, IngestRetried }

/**
 * A lead that was received is checked, and becomes that of the person whom it is about. What nobody need be asked about is
 * read in the same step.
 */
export const whenIngestReceivedResolveIt = (deps: Deps): Reaction<typeof resolving> => {
  const { handle, loadFrom } = commandHandler(deps.writer, ingest)
  const { requirementsOf } = makeRequirements(deps.writer)
  const resolve = makeResolve(deps)
  const { materialOf, write } = makeReadIngest(deps)

  const resolveAndRead = async (state: IngestState, context: Context): Promise<IngestCommand> => {
    const { organisation_id, campaign } = state.record
    const requirements = await requirementsOf(organisation_id, campaign?.key)
    const command = await resolve(state, requirements, context)
    if (command.type !== 'ResolveIngest') return command
    try {
      const found = deps.reader.readAtOnce(materialOf(state, requirements, context))
      if (found?.outcome !== 'read') return command
      return { ...command, read: await write(state, command.contact_id, found, readingIn(context)) }
    } catch (error) {
      if (isTransient(error) || context.cause?.signal.aborted) throw error
      // It is known who it is about, which stands: the step that reads meets the trouble again, and tells of it.
      return command
    }
  }

  return {
    name: 'when-ingest-received-resolve-it',
    categories: ['ingest'],
    events: resolving,
    target: (_event, { stream }) => stream,
    takesTurns: true,
    react: async (_event, { stream, revision }, context) => {
      const id = idOf(stream)
      const state = await loadFrom(id, revision)
      if (!isIngest(state) || (state.record.status !== 'received' && state.record.status !== 'resolving')) return
      const command = await orDefer(state, 'resolving', context, deps, () => resolveAndRead(state, context))
      await handle(id, command, context)
    },
  }
}

/** The context for writing a reading to the streams that resolving has written to: apart from that, and after it. */
const readingIn = (context: Context): Context =>
  context.cause ? { ...context, cause: { ...context.cause, reaction: whatReads } } : context
