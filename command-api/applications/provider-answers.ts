import type { ErrorCode } from '#domain/rejection.ts'
import { Problem } from '#infra/http/problem.ts'
import type { Outcome } from '#infra/stripe/provider.ts'

/** What the provider has done; otherwise throws, with this code where it refuses. */
export const doneOr = <Value>(code: ErrorCode, outcome: Outcome<Value>): Value => {
  if (outcome.outcome === 'done') return outcome.value
  if (outcome.outcome === 'refused') throw new Problem(code, outcome.message)
  throw new Problem('unavailable', 'The payment provider does not answer at the moment. Send the request again.', {
    headers: { 'Retry-After': '5' },
  })
}
