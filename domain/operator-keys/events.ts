import { z } from 'zod'
import { event, type EventOf } from '../event.ts'

/** `read_only` may look at everything and change nothing. */
export const OperatorKeyScope = z.enum(['all', 'read_only'])
export type OperatorKeyScope = z.infer<typeof OperatorKeyScope>

/** Stream `operator_key-<id>`, the id made from the name: a name is used once, so that it says for ever who acted. */
export const operatorKeyEvents = {
  OperatorKeyMade: event({
    name: z.string(),
    scope: OperatorKeyScope,
    /** In real time; null when it lasts until it is ended. */
    ends_at: z.iso.datetime().nullable(),
    /** The name of the key that made it, or the id of the user who did. */
    made_by: z.string(),
    /** SHA-256 of the key, which is too long to be guessed; the key itself is shown once and kept nowhere. */
    key_digest: z.string(),
  }),
  OperatorKeyEnded: event({ name: z.string() }),
}
export type OperatorKeyEvent = EventOf<typeof operatorKeyEvents>
