import { idOf } from '#domain/event.ts'
import { policy } from '#domain/policies/policy.ts'
import { commandHandler, type Writer } from '../handle.ts'
import type { Timer } from '../timers.ts'

/** Cover starts, and ends, on the day that the policy says. */
export const policyTimers = (writer: Writer): readonly Timer[] => {
  const { handle } = commandHandler(writer, policy)
  return [
    {
      kind: 'policy_start',
      fire: async ({ stream, due_at }, context) =>
        handle(idOf(stream), { type: 'ActivatePolicy', now: due_at }, context),
    },
    {
      kind: 'policy_end',
      fire: async ({ stream, due_at }, context) => handle(idOf(stream), { type: 'ExpirePolicy', now: due_at }, context),
    },
  ]
}
