import { isSameJson } from './canonical-json.ts'
import { Rejection } from './rejection.ts'

/** `what`, as the message has it; `input`, as the request has it. */
export type Difference = { readonly what: string; readonly input: string }

type Content = Readonly<Record<string, unknown>>

/**
 * The inputs that a request has otherwise than the first one with its key. Leaving one out is a difference, too: a request for
 * the deliveries of one connection, sent again without it, is for those of all.
 */
export const differencesOf = <Sent extends Content>(
  sent: Sent,
  first: Readonly<Record<keyof Sent, unknown>>,
): readonly Difference[] =>
  Object.keys(sent)
    .filter((input) => !isSameJson(sent[input], first[input]))
    .map((input) => ({ what: input, input }))

/**
 * Refuses a request that has the Idempotency-Key of another: nothing of it was done, so that it must not be answered as if it
 * had been. `started` is what the key did, such as "opened a claim".
 */
export const refuseOtherContent = (started: string, differing: readonly Difference[]): void => {
  if (differing.length === 0) return
  throw new Rejection(
    'idempotency_key_conflict',
    `This idempotency key already ${started} with another ${differing.map(({ what }) => what).join(', ')}. Use a new key.`,
    Object.fromEntries(differing.map(({ input }) => [input, 'differs from what the key started'])),
  )
}
