import type { ErrorRequestHandler } from 'express'
import type { z } from 'zod'
import { NewerEvent } from '#domain/event.ts'
import { OwnError } from '#domain/own-error.ts'
import { plainWords, reasonsOf, type Reason } from '#domain/reasons.ts'
import { Rejection, type ErrorCode, type Fields } from '#domain/rejection.ts'
import { isAboutErased, UnreadableEvent } from '../crypto/erased.ts'
import { LogUnavailable } from '../event-log/event-log.ts'
import type { Log } from '../log.ts'
import { isNotMade, isUnavailable } from '../postgres/postgres.ts'

export const statusOf: Readonly<Record<ErrorCode, number>> = {
  invalid_token: 401,
  forbidden: 403,
  not_found: 404,
  application_closed: 409,
  campaign_archived: 409,
  campaign_paused: 409,
  conflict: 409,
  invalid_transition: 409,
  membership_pending: 409,
  membership_cancelled: 409,
  external_member_ref_mismatch: 409,
  already_reversed: 409,
  event_id_ambiguous: 409,
  event_id_conflict: 409,
  not_repeatable: 409,
  idempotency_key_conflict: 409,
  idempotency_replay_unproven: 409,
  quote_expired: 409,
  quote_not_bindable: 409,
  accept_failed: 422,
  market_quotes_stale: 409,
  not_market_product: 422,
  mapping_incomplete: 422,
  bacs_mandate_failed: 422,
  bacs_setup_failed: 422,
  card_not_needed: 422,
  customer_missing: 422,
  direct_debit_invalid: 422,
  direct_debit_missing: 422,
  first_payment_missing: 422,
  not_sellable: 422,
  partner_missing: 422,
  steps_owed: 422,
  bind_failed: 422,
  mandate_incomplete: 422,
  payment_failed: 422,
  payment_pending: 422,
  payment_setup_failed: 422,
  cover_missing: 422,
  customer_invalid: 422,
  not_joint_basis: 422,
  partner_invalid: 422,
  invalid_parameter: 422,
  no_quotable_cover: 422,
  quote_failed: 422,
  rate_unavailable: 422,
  unknown_campaign: 422,
  validation_failed: 422,
  rate_limited: 429,
  internal_error: 500,
  unavailable: 503,
}

type Headers = Readonly<Record<string, string>>

/** A failed request that the caller can correct. `message` says what to do. */
export class Problem extends OwnError {
  override readonly name = 'Problem'
  readonly code: ErrorCode
  readonly fields: Fields | undefined
  readonly headers: Headers
  /** The answer's content beside the error: what was done before it. */
  readonly data: unknown

  constructor(code: ErrorCode, message: string, { fields, headers = {}, data, cause }: ProblemParts = {}) {
    super(message, { cause })
    this.code = code
    this.fields = fields
    this.headers = headers
    this.data = data
  }
}

type ProblemParts = {
  readonly fields?: Fields | undefined
  readonly headers?: Headers
  readonly data?: unknown
  /** The error that the log is to name in its place. */
  readonly cause?: unknown
}

/** `['components', 0, 'term_years']` → `components[0].term_years`, as the specification writes inputs. */
export const inputPath = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (written, part) =>
      typeof part === 'number' ? `${written}[${part}]` : written ? `${written}.${String(part)}` : String(part),
    '',
  )

/** The first reason for each input. A reason that concerns the whole value has no input to name. */
const fieldsOf = (reasons: readonly Reason[]): Fields =>
  Object.fromEntries(
    reasons
      .filter(({ path }) => path.length > 0)
      .map(({ path, reason }) => [inputPath(path), reason] as const)
      .reverse(),
  )

/** Parses what the caller sent. Anywhere else, a value that does not fit its schema is our fault and not theirs. */
export const parseRequest = <Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  code: 'validation_failed' | 'invalid_parameter' | 'not_found',
): z.output<Schema> => {
  const { success, data, error } = schema.safeParse(value, { error: plainWords })
  if (success) return data
  if (code === 'not_found') throw new Problem('not_found', 'There is nothing at this address. Check the id in it.')

  const found = reasonsOf(error.issues)
  // A parameter is what the caller knows, also where it holds several values and one of them is wrong.
  const reasons =
    code === 'invalid_parameter' ? found.map(({ path, reason }) => ({ path: path.slice(0, 1), reason })) : found
  const fields = fieldsOf(reasons)
  const named = Object.keys(fields)
  const message =
    named.length > 0
      ? `Correct ${named.join(', ')} and send the request again.`
      : `Correct the request and send it again: it ${reasons[0]?.reason ?? 'cannot be used'}.`
  throw new Problem(code, message, named.length > 0 ? { fields } : {})
}

/** The answer to a failed request. An error that nobody expected is ours. */
export const problemOf = (error: unknown): Problem =>
  expected(error) ??
  new Problem('internal_error', 'Something went wrong on our side. Try again, and quote X-Request-Id if it stays so.')

const expected = (error: unknown): Problem | undefined => {
  if (error instanceof Problem) return error
  if (error instanceof Rejection)
    return new Problem(error.code, error.message, error.fields ? { fields: error.fields } : {})
  // Before what a store says: that a caller broke off is told in the words of a lost connection.
  if (isUnreadableBody(error)) return new Problem('validation_failed', unreadable(error))
  // As if it had never been there.
  if (isAboutErased(error)) return new Problem('not_found', 'There is nothing at this address. Check the id in it.')
  // Until this process is upgraded too, or `projections`, which make what is read; one of the newer version may answer already.
  if (error instanceof UnreadableEvent || error instanceof NewerEvent || isNotMade(error))
    return new Problem('unavailable', 'This record cannot be read at the moment. Send the request again later.', {
      headers: { 'Retry-After': '60' },
    })
  if (error instanceof LogUnavailable || isUnavailable(error))
    return new Problem('unavailable', 'The service cannot write or read at the moment. Send the request again.', {
      headers: { 'Retry-After': '1' },
    })
  if (error instanceof URIError)
    return new Problem('not_found', 'There is nothing at this address. Check its encoding.')
  return undefined
}

type UnreadableBody = Error & { readonly status: number; readonly type?: string; readonly limit?: number }

/** The error of express.json(): malformed, too large, or of an unknown charset or encoding. */
const isUnreadableBody = (error: unknown): error is UnreadableBody =>
  error instanceof Error && 'expose' in error && error.expose === true && 'status' in error

export const notJson = 'The body is not a JSON object. Send one, as application/json.'
export const unreadableBody = 'The body could not be read. Send one JSON object, in UTF-8, as application/json.'

const unreadable = ({ type, limit = 0 }: UnreadableBody): string => {
  if (type === 'entity.too.large') return `The body is larger than ${limit / 1024} KB. Send less.`
  return type === 'entity.parse.failed' ? notJson : unreadableBody
}

/** No path of ours is longer; one that somebody made up may be. */
const longestPathLogged = 500

/** The one place where errors become answers. An error that it does not know is ours: logged, and a 500. */
export const problems =
  (log: Log): ErrorRequestHandler =>
  (error: unknown, request, response, next) => {
    if (response.headersSent) {
      next(error)
      return
    }
    const problem = problemOf(error)
    const status = statusOf[problem.code]
    const { request_id }: { request_id?: unknown } = response.locals
    const about = { method: request.method, path: request.path.slice(0, longestPathLogged), request_id }
    const { code, message, fields, headers, data } = problem
    const fault = error instanceof Problem ? error.cause : error
    // What our own code refuses for a moment is no fault that somebody should look at.
    if (status >= 500 && fault === undefined) log.info({ ...about, reason: message }, 'request refused for a moment')
    else if (status >= 500) log.error({ error: fault, ...about }, 'request failed')

    response.locals['error_code'] = code
    response
      .status(status)
      .set(code === 'unavailable' ? { 'Retry-After': '1', ...headers } : headers)
      .json({ error: { code, message, ...(fields && { fields }) }, ...(data !== undefined && { data }) })
  }
