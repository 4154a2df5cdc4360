import type { Recorded } from '../decider.ts'
import { operatorKeyEvents, type OperatorKeyEvent, type OperatorKeyScope } from './events.ts'

export type OperatorKey = {
  readonly name: string
  readonly scope: OperatorKeyScope
  readonly made_at: string
  /** The name of the key that made it. */
  readonly made_by: string
  readonly ends_at: string | null
  /** When it was ended before that. */
  readonly ended_at: string | null
  readonly key_digest: string
}

export const foldOperatorKey = (
  key: OperatorKey | undefined,
  event: OperatorKeyEvent,
  { occurred_at }: Recorded,
): OperatorKey | undefined => {
  switch (event.type) {
    case 'OperatorKeyMade': {
      const { name, scope, ends_at, made_by, key_digest } = event
      return { name, scope, made_at: occurred_at, made_by, ends_at, ended_at: null, key_digest }
    }
    case 'OperatorKeyEnded':
      return key && { ...key, ended_at: occurred_at }
  }
}

/** Every named key that there ever was, by its digest, as a process keeps them in memory. */
export type OperatorKeys = Map<string, OperatorKey>

export const operatorKeyNamed = (keys: ReadonlyMap<string, OperatorKey>, name: string): OperatorKey | undefined =>
  keys.values().find((key) => key.name === name)

/** Applies events to the keys, in place. */
export const operatorKeysFold = {
  name: 'operator keys',
  version: 1,
  categories: ['operator_key'],
  events: operatorKeyEvents,
  apply: (keys: OperatorKeys, event: OperatorKeyEvent, { metadata }: { readonly metadata: Recorded }): void => {
    const before = operatorKeyNamed(keys, event.name)
    const after = foldOperatorKey(before, event, metadata)
    if (after) keys.set(after.key_digest, after)
  },
}
