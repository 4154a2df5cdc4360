import { setTimeout as pause } from 'node:timers/promises'
import { fromStored, type EventOf, type EventShapes, type RecordedEvent } from '#domain/event.ts'
import { consume, type ConsumerParts, type Consuming } from '#infra/consumers/consumer.ts'
import { isTransient } from '#infra/consumers/follow.ts'
import type { Context } from './handle.ts'

/**
 * An event of one capability that leads to a command of another: "when X happened, do Y". It may see an event twice, and
 * is then to change nothing: its commands have ids that follow from the event.
 */
export type Reaction<Shapes extends EventShapes> = {
  /** As the file: `when-<event>-<command>`. */
  readonly name: string
  readonly categories: readonly string[]
  readonly events: Shapes
  readonly react: (event: EventOf<Shapes>, recorded: RecordedEvent) => Promise<unknown>
}

/** Any reaction, for what runs them all: only the reaction itself knows the types of its events. */
export type SomeReaction = Omit<Reaction<EventShapes>, 'react'> & {
  readonly react: (event: never, recorded: RecordedEvent) => Promise<unknown>
}

/** The context of a command that follows from an event. */
export const because = ({ id, metadata }: RecordedEvent, reaction: string, now: string): Context => ({
  organisation_id: metadata.organisation_id,
  actor: { type: 'system', id: reaction },
  correlation_id: metadata.correlation_id,
  causation_id: id,
  now,
})

const attempts = 4
const restMs = 200

/**
 * Runs reactions, each on its own: at an event that it fails at time and again, one stops and tells, and the others go on.
 */
export const runReactions = (reactions: readonly SomeReaction[], parts: ConsumerParts): readonly Consuming[] =>
  reactions.map((reaction) => runReaction(reaction, parts))

const runReaction = ({ name, categories, events: shapes, react }: SomeReaction, parts: ConsumerParts): Consuming => {
  const { signal, log } = parts
  const reactTo = react as Reaction<EventShapes>['react'] // That it fits its events was checked where it was declared.

  return consume({
    ...parts,
    name,
    version: 1,
    categories,
    types: Object.keys(shapes),
    batchSize: 100,
    react: async (recorded) => {
      const event = fromStored(shapes, recorded)
      for (let attempt = 1; ; attempt++)
        try {
          await reactTo(event, recorded)
          return
        } catch (error) {
          if (attempt === attempts || signal.aborted || isTransient(error)) throw error
          log.warn({ error, reaction: name, event_id: recorded.id }, 'reaction failed and is tried again')
          await pause(restMs * 4 ** (attempt - 1), undefined, { signal }).catch(() => undefined)
        }
    },
  })
}
