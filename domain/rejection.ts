import { OwnError } from './own-error.ts'

/**
 * Every error code of the API. Each means one thing wherever it appears; the status that goes with it is in
 * infra/http/problem.ts.
 */
export type ErrorCode =
  | 'invalid_token'
  | 'forbidden'
  | 'not_found'
  | 'application_closed'
  | 'campaign_archived'
  | 'campaign_paused'
  | 'idempotency_key_conflict'
  | 'idempotency_replay_unproven'
  | 'conflict'
  | 'quote_not_bindable'
  | 'quote_expired'
  | 'not_sellable'
  | 'steps_owed'
  | 'partner_missing'
  | 'direct_debit_missing'
  | 'first_payment_missing'
  | 'bind_failed'
  | 'invalid_transition'
  | 'membership_pending'
  | 'membership_cancelled'
  | 'external_member_ref_mismatch'
  | 'already_reversed'
  | 'event_id_ambiguous'
  | 'event_id_conflict'
  | 'not_repeatable'
  | 'unknown_campaign'
  | 'validation_failed'
  | 'invalid_parameter'
  | 'customer_invalid'
  | 'not_joint_basis'
  | 'partner_invalid'
  | 'cover_missing'
  | 'no_quotable_cover'
  | 'quote_failed'
  | 'rate_unavailable'
  | 'accept_failed'
  | 'not_market_product'
  | 'mapping_incomplete'
  | 'market_quotes_stale'
  | 'direct_debit_invalid'
  | 'customer_missing'
  | 'bacs_setup_failed'
  | 'mandate_incomplete'
  | 'bacs_mandate_failed'
  | 'card_not_needed'
  | 'payment_setup_failed'
  | 'payment_failed'
  | 'payment_pending'
  | 'rate_limited'
  | 'internal_error'
  | 'unavailable'

/** Why particular inputs were refused, by the path of the input (`customer.email`, `components[0].term_years`). */
export type Fields = Readonly<Record<string, string>>

/** The model's “no”: a well-formed command that the current state does not allow. `message` says what to do. */
export class Rejection extends OwnError {
  override readonly name = 'Rejection'
  readonly code: ErrorCode
  readonly fields: Fields | undefined

  constructor(code: ErrorCode, message: string, fields?: Fields) {
    super(message)
    this.code = code
    this.fields = fields
  }
}

/** The same message for an unknown id, another organisation's, and one whose share token was not sent. */
export const notFound = (what: string): Rejection =>
  new Rejection('not_found', `There is no ${what} with this id. Check the address.`)
