import { setTimeout as pause } from 'node:timers/promises'
import { fromStored, type EventOf, type EventShapes, type RecordedEvent } from '#domain/event.ts'
import { consume, type ConsumerParts, type Consuming } from '#infra/consumers/consumer.ts'
import { isTransient } from '#infra/consumers/failures.ts'
import { isAboutErased, SubjectErased } from '#infra/crypto/erased.ts'
import type { Traffic } from '#infra/request-load.ts'
import type { Context } from '../writing/handle.ts'

/**
 * An event of one capability that leads to a command of another: "when X happened, do Y". It may see an event twice, or
 * at the same time as another process; what it appends counts once (see `handle.ts`), as long as it uses the context that
 * it is given. Anything else that it does must be idempotent.
 */
export type Reaction<Shapes extends EventShapes> = {
  /** As the file: `when-<event>-<command>`. */
  readonly name: string
  readonly categories: readonly string[]
  readonly events: Shapes
  /**
   * The stream that the reaction writes to, once, because of an event. Events with the same target are handled in their order.
   * Without it, the reaction may write to any streams and several times, events of one stream are handled in their order, and
   * its commands must change nothing when they are repeated.
   */
  readonly target?: (event: EventOf<Shapes>, recorded: RecordedEvent) => string
  /** Organisations take turns: however much one of them has waiting, the others hardly wait for it. */
  readonly takesTurns?: true
  /** The context is for its commands, which act as of the moment when the event happened. */
  readonly react: (event: EventOf<Shapes>, recorded: RecordedEvent, context: Context) => Promise<unknown>
}

/** Any reaction, for what runs them all: only the reaction itself knows the types of its events. */
export type SomeReaction = Omit<Reaction<EventShapes>, 'react' | 'target'> & {
  readonly target?: (event: never, recorded: RecordedEvent) => string
  readonly react: (event: never, recorded: RecordedEvent, context: Context) => Promise<unknown>
}

/** The context of the commands that follow from an event, as long as the signal is not aborted. */
export const contextOf = (
  reaction: SomeReaction,
  recorded: RecordedEvent,
  signal: AbortSignal,
  resumed = false,
): Context => {
  const { name, target } = typed(reaction)
  const { id: event_id, stream, position, metadata } = recorded
  return {
    organisation_id: metadata.organisation_id,
    actor: { type: 'system', id: name },
    correlation_id: metadata.correlation_id,
    cause: {
      event_id,
      stream,
      position,
      resumed,
      reaction: name,
      target: target?.(fromStored(reaction.events, recorded), recorded) ?? null,
      signal,
    },
    now: metadata.occurred_at,
  }
}

/** That a reaction fits its events was checked where it was declared. */
const typed = (reaction: SomeReaction) => reaction as Reaction<EventShapes>

// Reactions mostly wait for the log, which commits the appends to different streams together.
const concurrency = 32
const batchSize = 200
// What comes next waits for as many as are under way.
const turnSize = 64

// Nobody waits for what follows: under load, larger batches cost less.
const restMs = 25

const attempts = 4
const usuallyAgainMs = 200

type ReactionParts = ConsumerParts & {
  /** The pause before a failed reaction is tried again for the first time; then four times as long, and so on. */
  readonly againMs?: number
  readonly traffic?: Pick<Traffic, 'isHeavy'>
}

/**
 * Runs reactions, each on its own: one that keeps failing at an event stops and reports it, and the others continue.
 */
export const runReactions = (reactions: readonly SomeReaction[], parts: ReactionParts): readonly Consuming[] =>
  reactions.map((reaction) => runReaction(reaction, parts))

const runReaction = (reaction: SomeReaction, given: ReactionParts): Consuming => {
  const { traffic, againMs = usuallyAgainMs, ...parts } = given
  const { log } = parts
  const { name, categories, events: shapes, react, target, takesTurns } = typed(reaction)

  return consume({
    ...parts,
    role: 'command-api',
    name,
    version: 1,
    categories,
    types: Object.keys(shapes),
    batchSize: takesTurns ? turnSize : batchSize,
    restMs,
    ...(traffic && { givesWayTo: traffic }),
    concurrency,
    ...(takesTurns && { queueOf: ({ metadata }: RecordedEvent) => metadata.organisation_id ?? '' }),
    recordOf: (recorded) => target?.(fromStored(shapes, recorded), recorded) ?? recorded.stream,
    react: async (recorded, signal, { resumed }) => {
      const reactOnce = async () => {
        // Empty values are no news of a person.
        if (recorded.erased) throw new SubjectErased(`${recorded.type} ${recorded.id} is about an erased subject.`)
        const context = contextOf(reaction, recorded, signal, resumed)
        await react(fromStored(shapes, recorded), recorded, context)
      }
      for (let attempt = 1; ; attempt++)
        try {
          await reactOnce()
          return
        } catch (error) {
          if (isAboutErased(error)) {
            log.info({ reaction: name, event_id: recorded.id }, 'nothing to be done: the person was erased')
            return
          }
          if (attempt === attempts || signal.aborted || isTransient(error)) throw error
          log.warn({ error, reaction: name, event_id: recorded.id }, 'reaction failed and is tried again')
          await pause(againMs * 4 ** (attempt - 1), undefined, { signal }).catch(() => undefined)
        }
    },
  })
}
