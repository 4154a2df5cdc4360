import { timeZoneOf } from '#domain/access/record.ts'
import { ingestEvents } from '#domain/ingests/events.ts'
import { idOf } from '#domain/event.ts'
import type { CustomerId } from '#domain/values.ts'
import { ingest, isIngest, type IngestCommand, type IngestState } from '#domain/ingests/ingest.ts'
import { sentFields } from '#domain/ingests/fields.ts'
import type { IngestStep } from '#domain/ingests/events.ts'
import { isTransient } from '#infra/consumers/failures.ts'
import type { Clock } from '#infra/clock.ts'
import { isAboutErased } from '#infra/crypto/erased.ts'
import type { Log } from '#infra/log.ts'
import { commandHandler, type Context } from '../handle.ts'
import type { Pipelines } from '../live-pipelines.ts'
import type { Reaction } from '../reaction.ts'
import { dateIn } from '#domain/time-zone.ts'
import type { Timer } from '../timers.ts'
import { makeApply } from './apply.ts'
import type { LeadReader, Reading, ReadingMaterial } from './reader.ts'
import { makeResolve, type ResolveDeps } from './resolve.ts'

export type ProcessDeps = ResolveDeps & {
  readonly pipelines: Pipelines
  readonly reader: LeadReader
  readonly log: Pick<Log, 'error'>
  readonly clock: Pick<Clock, 'now'>
}

const { IngestReceived, IngestResolutionStarted, IngestAccepted, IngestPersonPicked, IngestRetried, IngestResolved } =
  ingestEvents

/** After so many seconds the first, the second try and so on is repeated. */
const retryAfterSeconds = [10, 40, 120, 600]

const longestWords = 2_000

type Found = Extract<Reading, { readonly outcome: 'read' }>

/** Counted from now, however late what is tried again comes. */
const later = (clock: Pick<Clock, 'now'>, attempt: number): string =>
  new Date(clock.now().getTime() + (retryAfterSeconds[Math.max(attempt, 1) - 1] ?? 600) * 1_000).toISOString()

/**
 * What went wrong on our side is tried again later. Trouble with the database or the log is waited out by whoever runs
 * the reaction.
 */
const orDefer = async (
  { record, picked }: IngestState,
  step: IngestStep,
  { cause }: Context,
  { log, clock }: Pick<ProcessDeps, 'log' | 'clock'>,
  work: () => Promise<IngestCommand>,
): Promise<IngestCommand> => {
  try {
    return await work()
  } catch (error) {
    if (isTransient(error) || cause?.signal.aborted) throw error
    const isErased = isAboutErased(error)
    if (isErased && (step === 'extracting' || picked !== undefined))
      return { type: 'FailIngest', step, reason: 'The person whom it is about was erased.' }
    const retry = { type: 'DeferIngest', step, retry_after: later(clock, record.attempt), isTry: true } as const
    // It was sent again by somebody who was erased at this moment: from now on it is about somebody new.
    if (isErased) return { ...retry, reason: 'The person whom it was about is being erased.' }
    log.error({ error, ingest_id: record.id, step }, 'ingest failed and is tried again')
    return { ...retry, reason: 'Something went wrong on our side.' }
  }
}

/** Under this name it is recorded what was read, in whichever step. */
const readName = 'when-ingest-resolved-read-it'

/** Reads what was sent, of somebody who is known. */
const makeRead = (deps: ProcessDeps) => {
  const { pipelines, organisations, campaigns } = deps
  const apply = makeApply(deps)

  const materialOf = ({ record, content }: IngestState, { now }: Context): ReadingMaterial => {
    const { organisation_id, campaign } = record
    const fieldNames = campaign ? (campaigns.campaign(organisation_id, campaign.key)?.field_names ?? {}) : {}
    return {
      organisation_id,
      content,
      fields: sentFields(content, fieldNames),
      wanted: pipelines(organisation_id).custom_fields,
      today: dateIn(timeZoneOf(organisations, organisation_id), now),
    }
  }

  const write = async (state: IngestState, contact_id: CustomerId, found: Found, context: Context) => {
    const { details, facts, truncated } = found
    const { text } = state.content
    const told = {
      contact_id,
      details,
      // An email address or phone that is only mentioned does not make anybody known by it.
      contested: ['email'] as const,
      facts,
      consent: null,
      arrives: undefined,
      words: text === null ? null : text.trim().slice(0, longestWords),
    }
    const { is_new_lead: _, ...written } = await apply(state, told, context)
    return { ...written, truncated }
  }

  return { materialOf, write }
}

const resolving = { IngestReceived, IngestResolutionStarted, IngestAccepted, IngestPersonPicked, IngestRetried }

/**
 * A lead that was received is checked, and becomes that of the person whom it is about. What nobody need be asked about is
 * read in the same step.
 */
export const whenIngestReceivedResolveIt = (deps: ProcessDeps): Reaction<typeof resolving> => {
  const { handle, loadFrom } = commandHandler(deps.writer, ingest)
  const resolve = makeResolve(deps)
  const { materialOf, write } = makeRead(deps)

  const resolveAndRead = async (state: IngestState, context: Context): Promise<IngestCommand> => {
    const command = await resolve(state, context)
    if (command.type !== 'ResolveIngest') return command
    try {
      const found = deps.reader.readAtOnce(materialOf(state, context))
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

/** What is read is written by the streams that resolving has written to: apart from that, and after it. */
const readingIn = (context: Context): Context =>
  context.cause ? { ...context, cause: { ...context.cause, reaction: readName } } : context

const reading = { IngestResolved, IngestRetried }

/** What somebody must be asked about is read once it is known who it is about. A reader that is slow holds up no other step. */
export const whenIngestResolvedReadIt = (deps: ProcessDeps): Reaction<typeof reading> => {
  const { handle, loadFrom } = commandHandler(deps.writer, ingest)
  const { materialOf, write } = makeRead(deps)

  const read = async (state: IngestState, context: Context): Promise<IngestCommand> => {
    const { record } = state
    const { contact_id } = record
    if (contact_id === null) throw new Error(`Ingest ${record.id} is read, and nobody knows who it is about.`)
    const found = await deps.reader.read(materialOf(state, context))
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
    name: readName,
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

/** A deferred ingest carries on by itself. */
export const retryIngests = ({ writer }: Pick<ProcessDeps, 'writer'>): Timer => {
  const { handle } = commandHandler(writer, ingest)
  return {
    kind: 'ingest_retry',
    fire: async ({ id, due_at }, context) => handle(id, { type: 'RetryIngest', now: due_at }, context),
  }
}
