import { setTimeout as pause } from 'node:timers/promises'
import type { Decider } from '#domain/decider.ts'
import {
  fromStored,
  toStored,
  type EventOf,
  type EventShapes,
  type Metadata,
  type Position,
  type RecordedEvent,
} from '#domain/event.ts'
import { OwnError } from '#domain/own-error.ts'
import { RetainedRecord } from '#domain/retention/events.ts'
import { notFound, Rejection } from '#domain/rejection.ts'
import { derivedId, newId } from '#infra/ids.ts'
import { grown, sizeOf } from '#infra/size.ts'
import type { Reached } from '#infra/snapshots.ts'
import { ChangedSince, Proposed, type Approval } from './approval.ts'
import { tooManyAtOnce, type Cache, type Causes, type Loaded, type Writer } from './writer.ts'

import type { Cause, Context } from './context.ts'

export type { Cause, Context } from './context.ts'
export type { Writer } from './writer.ts'

export type Handled<State, Event> = {
  readonly state: State
  /** The events that this command added; none when what it asked for was already so. */
  readonly events: readonly Event[]
}

/** Long streams are also remembered outside the process, so that none is read from its beginning more than once. */
export type Snapshots<State> = {
  /** Undefined: there is none, and the stream is read from its beginning. */
  readonly read: (stream: string) => Promise<Loaded<State> | undefined>
  /** The state of a stream to be cached: as it is or, where a snapshot was worth while, what goes with that. */
  readonly compact: (loaded: Loaded<State>, reached: Reached) => Promise<Loaded<State>>
}

type Written<State, Event> = Handled<State, Event> & { readonly position: Position | undefined }

/** The streams of records that are erased by themselves. Others are erased by commands on them. */
const retained: ReadonlySet<string> = new Set(RetainedRecord.shape.type.options)

const attempts = 8
const pageSize = 1000

/**
 * Loads a stream, decides, appends. If another writer appended in between, it decides again on the new state.
 * Streams are cached, so a decision may rest on an old state: an append proves the state by its expected revision;
 * a refusal, or a decision that nothing is to be done, is taken only on a state that was just read.
 *
 * A command with a cause is a reaction's. Two processes may react to the same event, at the same time or much later:
 * the ids of what they append are equal, and a stream takes in nothing because of a cause that is not newer than the
 * last one of that reaction. A cause that was set aside comes late: it is compared only with the causes from its own
 * stream, which come in their order. For that the stream is read, so that what is kept of causes does not grow.
 */
export const commandHandler = <Command, Shapes extends EventShapes, State>(
  writer: Writer,
  decider: Decider<Command, Shapes, State>,
  snapshots?: Snapshots<State>,
) => {
  type Event = EventOf<Shapes>
  const { log, seen, cache, deciders, inTurn } = writer
  const { category, events: shapes, initialState, decide, evolve } = decider
  if ((deciders.get(category) ?? decider) !== decider) throw new Error(`There are two deciders of ${category} streams.`)
  deciders.set(category, decider)
  const nothing: Loaded<State> = { state: initialState, revision: undefined, causes: {} }
  /** All that was cached of these streams was folded by this decider. */
  const cached = (remembered: Cache, stream: string) => (remembered.get(stream) as Loaded<State> | undefined) ?? nothing

  const keep = (remembered: Cache, stream: string, loaded: Loaded<State>) =>
    remembered.set(stream, { ...loaded, size: sizeOf(loaded, loaded.size) })

  const fold = (
    { state, revision, causes, isPartlyErased }: Loaded<State>,
    recorded: readonly RecordedEvent[],
  ): Loaded<State> => ({
    state: recorded.reduce((before, each) => evolve(before, fromStored(shapes, each), each.metadata), state),
    revision: recorded.at(-1)?.revision ?? revision,
    causes: recorded.reduce((before, { metadata }) => withCause(before, metadata), causes),
    ...((isPartlyErased || recorded.some(({ erased }) => erased)) && { isPartlyErased: true }),
  })

  const catchUp = async (
    stream: string,
    remembered = cache(),
    known = cached(remembered, stream),
  ): Promise<Loaded<State>> => {
    let loaded = known.revision === undefined ? ((await snapshots?.read(stream)) ?? known) : known
    let last: RecordedEvent | undefined
    for (;;) {
      const from = loaded.revision === undefined ? 0 : loaded.revision + 1
      const page = await log.read(stream, { from, limit: pageSize })
      loaded = fold(loaded, page)
      last = page.at(-1) ?? last
      if (page.length < pageSize) break
    }
    if (last) await remember(remembered, loaded, { position: last.position, lastEvent: last })
    // What was there already need not be measured again.
    else if (loaded.revision !== undefined && loaded !== known) keep(remembered, stream, loaded)
    return loaded
  }

  const remember = async (remembered: Cache, loaded: Loaded<State>, reached: Reached) => {
    keep(remembered, reached.lastEvent.stream, (await snapshots?.compact(loaded, reached)) ?? loaded)
  }

  /** True where a stream already holds events because of this cause, or of a later one that must not come before it. */
  const isTakenIn = async (stream: string, causes: Causes, cause: Cause | undefined): Promise<boolean> => {
    if (!cause || (causes[cause.reaction] ?? '') < cause.position) return false
    if (!cause.resumed) return true
    for (let page = await readBackwards(stream); page.length > 0; page = await readBackwards(stream, page)) {
      const last = page.find(
        ({ metadata }) => metadata.cause?.reaction === cause.reaction && metadata.cause.stream === cause.stream,
      )
      if (last) return (last.metadata.cause?.position ?? '') >= cause.position
    }
    return false
  }

  /** The events before those of a page, the last one first; without a page, the last events. */
  const readBackwards = async (stream: string, page?: readonly RecordedEvent[]): Promise<readonly RecordedEvent[]> => {
    const before = page?.at(-1)?.revision
    if (before === 0) return []
    const from = before === undefined ? {} : { from: before - 1 }
    return log.read(stream, { ...from, direction: 'backwards', limit: pageSize })
  }

  /** The events that follow; undefined when this state is too old to say no, or to do nothing. */
  const decideOn = (command: Command, state: State, isFresh: boolean): readonly Event[] | undefined => {
    try {
      const decided = decide(command, state)
      return decided.length > 0 || isFresh ? decided : undefined
    } catch (error) {
      if (error instanceof Rejection && !isFresh) return undefined
      throw error
    }
  }

  const foldedOn = (state: State, events: readonly Event[], context: Context): State =>
    events.reduce((before, event) => evolve(before, event, { occurred_at: context.now, actor: context.actor }), state)

  type HeldBack = {
    readonly stream: string
    readonly command: Command
    readonly context: Context
    readonly decided: readonly Event[]
    readonly loaded: Loaded<State>
  }

  /** Throws `Proposed` where the organisation asks for a second user. */
  const holdBack = async (
    approval: Approval,
    { stream, command, context, decided, loaded: { state, revision } }: HeldBack,
  ): Promise<void> => {
    const { organisation_id } = context
    const after = foldedOn(state, decided, context)
    const act = { organisation_id, command, before: state, after }
    if (organisation_id === null || !(await approval.isAsked(act))) return
    const proposal_id = await approval.propose({ ...act, stream, revision, context })
    throw new Proposed(proposal_id, organisation_id)
  }

  /** Decides and appends, without waiting until it can be read. */
  const write = async (stream: string, command: Command, context: Context): Promise<Written<State, Event>> => {
    const cause = causeWithTarget(context)
    if (cause && cause.target !== stream)
      throw new OwnError(`${cause.reaction} writes to ${stream}, but has not declared it as its target.`)
    const metadata = metadataOf(context)
    const remembered = cache()
    let loaded = cached(remembered, stream)
    let isFresh = false
    if (loaded.isBehind) {
      loaded = await catchUp(stream, remembered, loaded)
      isFresh = true
    }

    for (let attempt = 1; attempt <= attempts; attempt++) {
      // What a stream has taken in, it has taken in: an older state can say so, too.
      if (await isTakenIn(stream, loaded.causes, cause)) return { state: loaded.state, events: [], position: undefined }
      await refuseErased(stream, loaded, context)
      let decided = decideOn(command, loaded.state, isFresh)
      if (!decided) {
        loaded = await catchUp(stream, remembered, loaded)
        isFresh = true
        await refuseErased(stream, loaded, context)
        decided = (await isTakenIn(stream, loaded.causes, cause)) ? [] : decide(command, loaded.state)
      }
      if (decided.length === 0) return { state: loaded.state, events: [], position: undefined }
      const approval = approvalFor(writer, command, context)
      if ((approval || context.approved) && !isFresh) {
        loaded = await catchUp(stream, remembered, loaded)
        isFresh = true
        continue
      }
      refuseChanged(context, loaded.revision)
      if (approval) await holdBack(approval, { stream, command, context, decided, loaded })

      const stored = decided.map((event, index) => ({
        id: cause ? derivedId('reaction', cause.reaction, cause.event_id, stream, String(index)) : newId(),
        ...toStored(shapes, event),
        metadata,
      }))
      context.cause?.signal.throwIfAborted()
      const result = await log.append(stream, loaded.revision ?? 'no_stream', stored)
      if (result.outcome === 'appended') {
        const state = decided.reduce((before, event) => evolve(before, event, metadata), loaded.state)
        const size = grown(loaded.size, decided)
        const { revision, position } = result
        const written = { ...loaded, state, revision, causes: withCause(loaded.causes, metadata), size }
        // Because of a cause, another process may have decided otherwise a moment before: then the log has its events
        // under these ids, and they are read before the next decision.
        if (cause) keep(remembered, stream, { ...loaded, isBehind: true })
        else
          await remember(remembered, written, {
            position,
            lastEvent: { stream, revision, id: stored.at(-1)?.id ?? '' },
          })
        return { state, events: decided, position }
      }
      if (attempt > 1) await pause(Math.random() * 5 * attempt)
      loaded = await catchUp(stream, remembered, loaded)
      isFresh = true
    }
    throw tooManyAtOnce()
  }

  /** The service’s own commands go on: nobody waits for their answer, and none must be set aside. */
  const refuseErased = async (stream: string, { isPartlyErased }: Loaded<State>, context: Context): Promise<void> => {
    const { actor, organisation_id } = context
    if (
      !isPartlyErased ||
      !retained.has(category) ||
      context.cause ||
      actor.type === 'system' ||
      organisation_id === null
    )
      return
    if (await writer.isErased?.(stream, organisation_id)) throw notFound(category)
  }

  const streamOf = (id: string): string => `${category}-${id}`

  const handle = async (id: string, command: Command, context: Context): Promise<Handled<State, Event>> => {
    const stream = streamOf(id)
    const { state, events, position } = await inTurn(stream, async () => write(stream, command, context))
    // No caller waits for the answer to a reaction.
    if (position !== undefined && !context.cause && !context.isShownLater) await seen(stream, position)
    return { state, events }
  }

  /** The state of a stream, as of now; the initial state when it has no events. */
  const load = async (id: string): Promise<State> => (await catchUp(streamOf(id))).state

  /** The state of a stream up to an event at least: without a read where more than that is remembered. */
  const loadFrom = async (id: string, revision: number): Promise<State> => {
    const known = cached(cache(), streamOf(id))
    return known.revision !== undefined && known.revision >= revision ? known.state : load(id)
  }

  /** The events that a command would add, without adding them. */
  const preview = async (id: string, command: Command): Promise<readonly Event[]> => decide(command, await load(id))

  /** True where a command would be proposed, and not be done, because a second user is asked for. */
  const waits = async (id: string, command: Command, context: Context): Promise<boolean> => {
    const approval = approvalFor(writer, command, context)
    if (!approval) return false
    const before = await load(id)
    const events = decide(command, before)
    const { organisation_id } = context
    return (
      events.length > 0 &&
      approval.isAsked({ organisation_id, command, before, after: foldedOn(before, events, context) })
    )
  }

  return { handle, load, loadFrom, preview, streamOf, waits }
}

/** All that the service does by itself follows from what somebody has done, and waits for nobody. */
const approvalFor = ({ approval }: Writer, command: unknown, { actor, approved }: Context): Approval | undefined =>
  actor.type !== 'system' && !approved && approval?.mayAsk(command) ? approval : undefined

const refuseChanged = ({ approved }: Context, revision: number | undefined): void => {
  if (approved && approved.revision !== (revision ?? null))
    throw new ChangedSince('What it would change has changed since it was proposed.')
}

/** The context for commands that may go to any stream: it keeps the event, but effects are not compared by it. */
export const withoutTarget = (context: Context): Context =>
  context.cause ? { ...context, cause: { ...context.cause, target: null } } : context

const causeWithTarget = ({ cause }: Context): Cause | undefined => (cause?.target === null ? undefined : cause)

const withCause = (causes: Causes, { cause }: Metadata): Causes =>
  cause && (causes[cause.reaction] ?? '') < cause.position ? { ...causes, [cause.reaction]: cause.position } : causes

const metadataOf = (context: Context): Metadata => {
  const { organisation_id, actor, correlation_id, now } = context
  const cause = causeWithTarget(context)
  return {
    organisation_id,
    actor,
    correlation_id,
    causation_id: context.cause?.event_id ?? context.follows ?? null,
    occurred_at: now,
    ...(cause && { cause: { reaction: cause.reaction, stream: cause.stream, position: cause.position } }),
  }
}
