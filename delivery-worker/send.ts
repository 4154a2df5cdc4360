import type { Exchange, GuardedHttp } from '#infra/guarded-http.ts'
import type { Log } from '#infra/log.ts'
import type { Metrics } from '#infra/metrics.ts'
import { nextAttempt, retryAfterSeconds, verdictOn } from './backoff.ts'
import type { Claimed, Completed } from './queue.ts'
import { sign, signatureHeader } from './sign.ts'

export type SendParts = {
  readonly http: GuardedHttp
  /** Opens the signing secret of a connection. */
  readonly openSecret: (claimed: Claimed) => string
  readonly now: () => Date
  readonly log: Log
  readonly metrics: Metrics
}

/** Sends a delivery once, signed for this attempt, and says what becomes of it. */
export const makeSend = ({ http, openSecret, now, log, metrics }: SendParts) => {
  const exchange = async (claimed: Claimed, body: string | undefined): Promise<Exchange> => {
    if (body === undefined) return { outcome: 'unanswered', reason: 'its subject is not in the read models' }
    return http.request({
      method: 'POST',
      url: claimed.base_url,
      headers: {
        'Content-Type': 'application/json',
        'Idempotency-Key': claimed.id,
        [signatureHeader]: sign(openSecret(claimed), body, now()),
      },
      body,
    })
  }

  return async (claimed: Claimed, body: string | undefined): Promise<Completed> => {
    const { id, attempt, organisation_id, connection_id, message } = claimed
    const startedAt = performance.now()
    const answer = await exchange(claimed, body).catch(ourFault)
    const ended = now()
    const completed = outcomeOf(claimed, answer, ended)

    metrics.deliveries.inc({ outcome: completed.state === 'pending' ? 'retry' : completed.state })
    const { outcome, status, reason, state } = completed
    const ms = Math.round(performance.now() - startedAt)
    log.info(
      {
        delivery_id: id,
        attempt,
        type: message.type,
        organisation_id,
        connection_id,
        outcome,
        status,
        reason,
        state,
        ms,
      },
      'delivery attempted',
    )
    return completed
  }
}

/** A secret that cannot be opened, for example: it is tried again, since an operator may put it right. */
const ourFault = (error: unknown): Exchange => ({
  outcome: 'unanswered',
  reason: `not sent: ${error instanceof Error ? error.message : String(error)}`,
})

const outcomeOf = ({ id, attempt }: Claimed, exchange: Exchange, ended: Date): Completed => {
  const verdict = verdictOn(exchange)
  const asked = exchange.outcome === 'answered' ? retryAfterSeconds(exchange.header('retry-after'), ended) : undefined
  const next = verdict === 'retry' ? nextAttempt(attempt, ended, Math.random(), asked) : undefined
  return {
    id,
    attempt,
    finished_at: ended.toISOString(),
    outcome: exchange.outcome,
    status: exchange.outcome === 'answered' ? exchange.status : null,
    reason: exchange.outcome === 'answered' ? null : storable(exchange.reason),
    state: verdict === 'delivered' ? 'delivered' : next ? 'pending' : 'failed',
    due_at: next?.toISOString() ?? null,
  }
}

const storable = (reason: string): string => reason.replaceAll('\0', '').toWellFormed().slice(0, 500)
