import { LRUCache } from 'lru-cache'
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
import { Rejection } from '#domain/rejection.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { newId } from '#infra/ids.ts'
import { Problem } from '#infra/http/problem.ts'

/** What a command writes with: the log, and a wait until the read models show what was written at a position. */
export type Writer = {
  readonly log: EventLog
  readonly seen: (stream: string, position: Position) => Promise<void>
}

/** On whose behalf a command runs, because of what, and when. */
export type Context = Pick<Metadata, 'organisation_id' | 'actor' | 'correlation_id'> & {
  readonly causation_id?: string
  /** ISO 8601. */
  readonly now: string
}

/** A stream folded up to a revision; undefined when the stream has no events. */
type Loaded<State> = { readonly state: State; readonly revision: number | undefined }

export type Handled<State, Event> = {
  readonly state: State
  /** What this command added; none when what it asked for was already so. */
  readonly events: readonly Event[]
}

type Written<State, Event> = Handled<State, Event> & { readonly position: Position | undefined }

const attempts = 8
const pageSize = 1000

/**
 * Loads a stream, decides, appends. If another writer came in between, it decides anew on what that one wrote.
 * Streams are cached, so a decision may rest on an old state: an append proves the state by its expected revision;
 * a refusal, or a decision that nothing is to be done, is taken only on a state that was just read.
 */
export const commandHandler = <Command, Shapes extends EventShapes, State>(
  { log, seen }: Writer,
  { category, events: shapes, initialState, decide, evolve }: Decider<Command, Shapes, State>,
) => {
  type Event = EventOf<Shapes>
  const cache = new LRUCache<string, Loaded<State>>({ max: 10_000 })
  const nothing: Loaded<State> = { state: initialState, revision: undefined }
  const inTurn = turns()

  const fold = ({ state, revision }: Loaded<State>, recorded: readonly RecordedEvent[]): Loaded<State> => ({
    state: recorded.reduce((before, each) => evolve(before, fromStored(shapes, each), each.metadata), state),
    revision: recorded.at(-1)?.revision ?? revision,
  })

  const catchUp = async (stream: string, known: Loaded<State>): Promise<Loaded<State>> => {
    let loaded = known
    for (;;) {
      const from = loaded.revision === undefined ? 0 : loaded.revision + 1
      const page = await log.read(stream, { from, limit: pageSize })
      loaded = fold(loaded, page)
      if (page.length < pageSize) break
    }
    if (loaded.revision !== undefined) cache.set(stream, loaded)
    return loaded
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

  /** Decides and appends, without a look at whether it can be read yet. */
  const write = async (stream: string, command: Command, context: Context): Promise<Written<State, Event>> => {
    let loaded = cache.get(stream) ?? nothing
    let isFresh = false

    for (let attempt = 1; attempt <= attempts; attempt++) {
      let decided = decideOn(command, loaded.state, isFresh)
      if (!decided) {
        loaded = await catchUp(stream, loaded)
        isFresh = true
        decided = decide(command, loaded.state)
      }
      if (decided.length === 0) return { state: loaded.state, events: [], position: undefined }

      const metadata = metadataOf(context)
      const stored = decided.map((event) => ({ id: newId(), ...toStored(shapes, event), metadata }))
      const result = await log.append(stream, loaded.revision ?? 'no_stream', stored)
      if (result.outcome === 'appended') {
        const state = decided.reduce((before, event) => evolve(before, event, metadata), loaded.state)
        cache.set(stream, { state, revision: result.revision })
        return { state, events: decided, position: result.position }
      }
      if (attempt > 1) await pause(Math.random() * 5 * attempt)
      loaded = await catchUp(stream, loaded)
      isFresh = true
    }
    throw new Problem('unavailable', 'Too many requests change this at the same time. Send the request again.', {
      headers: { 'Retry-After': '1' },
    })
  }

  const handle = async (id: string, command: Command, context: Context): Promise<Handled<State, Event>> => {
    const stream = `${category}-${id}`
    const { state, events, position } = await inTurn(stream, async () => write(stream, command, context))
    if (position !== undefined) await seen(stream, position)
    return { state, events }
  }

  /** What has become of a stream, as of now; the initial state when it has no events. */
  const load = async (id: string): Promise<State> => {
    const stream = `${category}-${id}`
    return (await catchUp(stream, cache.get(stream) ?? nothing)).state
  }

  /** What a command would add, without adding it. */
  const preview = async (id: string, command: Command): Promise<readonly Event[]> => decide(command, await load(id))

  return { handle, load, preview }
}

/** Lets work on the same stream wait for each other, so that the writers of one process do not make each other try again. */
const turns = () => {
  const last = new Map<string, Promise<unknown>>()
  return async <Result>(stream: string, work: () => Promise<Result>): Promise<Result> => {
    const turn = (last.get(stream) ?? Promise.resolve()).then(work, work)
    last.set(stream, turn)
    try {
      return await turn
    } finally {
      if (last.get(stream) === turn) last.delete(stream)
    }
  }
}

const metadataOf = ({ organisation_id, actor, correlation_id, causation_id, now }: Context): Metadata => ({
  organisation_id,
  actor,
  correlation_id,
  causation_id: causation_id ?? null,
  occurred_at: now,
})

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
