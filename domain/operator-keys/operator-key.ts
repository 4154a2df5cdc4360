import type { Decider } from '../decider.ts'
import { Rejection } from '../rejection.ts'
import { operatorKeyEvents, type OperatorKeyEvent, type OperatorKeyScope } from './events.ts'
import { foldOperatorKey, type OperatorKey } from './record.ts'

export type OperatorKeyCommand =
  | {
      readonly type: 'MakeOperatorKey'
      readonly name: string
      readonly scope: OperatorKeyScope
      readonly ends_at: string | null
      readonly made_by: string
      readonly key_digest: string
      /** Real time: the life of a key does not depend on business time. */
      readonly real_now: string
      /** End of the key that makes it. */
      readonly maker_ends_at: string | null
    }
  | { readonly type: 'EndOperatorKey' }

type Decision = readonly OperatorKeyEvent[]

const decide = (command: OperatorKeyCommand, existing: OperatorKey | undefined): Decision => {
  if (command.type === 'MakeOperatorKey') return make(command, existing)
  if (!existing) throw new Rejection('not_found', 'There is no operator key with this name. List the keys.')
  return existing.ended_at === null ? [{ type: 'OperatorKeyEnded', name: existing.name }] : []
}

const make = (
  { name, scope, ends_at, made_by, key_digest, real_now, maker_ends_at }: Extract<OperatorKeyCommand, { name: string }>,
  existing: OperatorKey | undefined,
): Decision => {
  if (existing)
    throw new Rejection(
      'conflict',
      `There is or was an operator key ${name}. A name is used once, so that it says who acted: choose another.`,
    )
  if (ends_at !== null && ends_at <= real_now) throw refused('must be in the future')
  if (maker_ends_at !== null && (ends_at === null || ends_at > maker_ends_at))
    throw refused(`must not be after ${maker_ends_at}, when the key ends that makes it`)
  return [{ type: 'OperatorKeyMade', name, scope, ends_at, made_by, key_digest }]
}

const refused = (reason: string) =>
  new Rejection('validation_failed', 'Correct ends_at and send the request again.', { ends_at: reason })

export const operatorKey: Decider<OperatorKeyCommand, typeof operatorKeyEvents, OperatorKey | undefined> = {
  category: 'operator_key',
  events: operatorKeyEvents,
  initialState: undefined,
  decide,
  evolve: foldOperatorKey,
}
