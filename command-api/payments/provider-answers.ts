import { OwnError } from '#domain/own-error.ts'
import type { ErrorCode } from '#domain/rejection.ts'
import type { ApplicationRecord } from '#domain/applications/record.ts'
import { Problem } from '#infra/http/problem.ts'
import type { Outcome } from '#infra/stripe/provider.ts'
import type { Merchant, Merchants } from './merchants.ts'

/** The provider's result; otherwise throws, with this code where it refuses. */
export const doneOr = <Value>(code: ErrorCode, outcome: Outcome<Value>): Value => {
  if (outcome.outcome === 'refused') throw new Problem(code, outcome.message)
  return answered(outcome)
}

/** The provider's answer; undefined where it refuses. */
export const saidBy = <Value>(outcome: Outcome<Value>): Value | undefined =>
  outcome.outcome === 'refused' ? undefined : answered(outcome)

/** The reason why the provider has not done it, in a word. */
export const failureOf = (failed: Exclude<Outcome<unknown>, { outcome: 'done' }>): string =>
  failed.outcome === 'refused' ? failed.code : 'unanswered'

/** The subject is not to be found at the provider: asking again finds it as little. */
export class UnknownAtProvider extends OwnError {
  override readonly name = 'UnknownAtProvider'
}

type Refused = Extract<Outcome<never>, { outcome: 'refused' }>

/** There is no such thing at the provider. */
export const isUnknown = <Value>(outcome: Outcome<Value>): outcome is Refused =>
  outcome.outcome === 'refused' && outcome.code === 'resource_missing'

/** The answer, unless it is that there is no such thing: then throws `UnknownAtProvider`. */
export const known = <Value>(outcome: Outcome<Value>): Outcome<Value> => {
  if (isUnknown(outcome)) throw new UnknownAtProvider(outcome.message)
  return outcome
}

const answered = <Value>(outcome: Exclude<Outcome<Value>, { outcome: 'refused' }>): Value => {
  if (outcome.outcome === 'done') return outcome.value
  throw new Problem('unavailable', 'The payment provider does not answer at the moment. Send the request again.', {
    headers: { 'Retry-After': '5' },
  })
}

/** The account that an application is paid through; otherwise throws with this code. */
export const requireMerchant =
  (merchants: Merchants) =>
  ({ organisation_id, stripe_test_mode }: ApplicationRecord, code: ErrorCode): Merchant => {
    const merchant = merchants(organisation_id, stripe_test_mode)
    if (merchant) return merchant
    throw new Problem(
      code,
      'The organisation has no account with the payment provider. Tell the operator of the service.',
    )
  }
