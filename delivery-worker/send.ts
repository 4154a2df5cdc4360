import type { DataKeys } from '#infra/crypto/data-keys.ts'
import type { Keys } from '#infra/crypto/keys.ts'
import type { Exchange, GuardedHttp, OutboundRequest } from '#infra/guarded-http.ts'
import type { Log } from '#infra/log.ts'
import type { Metrics } from '#infra/metrics.ts'
import { reasonOf } from '#infra/reason.ts'
import { nextDelay, retryAfterSeconds, unsentDelaySeconds, unsentMax, verdictOn } from './backoff.ts'
import { kindNamed, type Capabilities } from './capability.ts'
import { exchangeRecorder, type Recorded } from './exchange.ts'
import type { Claimed, Completed } from './queue.ts'

export type SendParts = {
  readonly capabilities: Capabilities
  readonly http: GuardedHttp
  readonly keys: Keys
  readonly dataKeys: Pick<DataKeys, 'of'>
  readonly now: () => Date
  readonly log: Log
  readonly metrics: Metrics
}

/** The body of a delivery, or why there is none, for now or for ever. */
export type Body = { readonly text: string } | { readonly missing: string; readonly isForEver?: boolean }

/** Nothing was sent, for a reason on our side that an operator may put right, or that stays for ever. */
type NotSent = { readonly outcome: 'not_sent'; readonly reason: string; readonly isForEver: boolean }

/** The order of what is sent about one record: a later event has a greater number. */
export const sequenceHeader = 'X-Service-Sequence'

/** Sends a delivery once, signed for this attempt, and says what becomes of it. */
export const makeSend = ({ capabilities, http, keys, dataKeys, now, log, metrics }: SendParts) => {
  const recordExchange = exchangeRecorder(dataKeys)

  const requestOf = (claimed: Claimed, body: Body): OutboundRequest | NotSent => {
    if ('missing' in body) return notSent(body.missing, body.isForEver)
    const { id, organisation_id, connection_id, connection_type, connection, sequence } = claimed
    if (connection_type === null || connection === null) return notSent('its connection is not known')
    const sending = { id, organisation_id, connection_id, body: body.text, keys, now: now() }
    const request = kindNamed(capabilities.connections, connection_type).request(connection, sending)
    return { ...request, headers: { ...request.headers, [sequenceHeader]: String(sequence) } }
  }

  /** Nothing that fails on the way ends the worker. */
  const attempt = async (claimed: Claimed, body: Body) => {
    try {
      const request = requestOf(claimed, body)
      if ('outcome' in request) return { answer: request, recorded: nothingRecorded }
      const answer = await http.request(request)
      return { answer, recorded: await recordExchange(claimed, request, answer) }
    } catch (error) {
      return { answer: notSent(reasonOf(error)), recorded: nothingRecorded }
    }
  }

  return async (claimed: Claimed, body: Body): Promise<Completed> => {
    const { id, number, organisation_id, connection_id, type } = claimed
    const startedAt = performance.now()
    const { answer, recorded } = await attempt(claimed, body)
    const completed = { ...outcomeOf(claimed, answer, now()), ...recorded }

    metrics.deliveries.inc({ outcome: completed.state === 'pending' ? 'retry' : completed.state })
    const { outcome, status, reason, state } = completed
    const ms = Math.round(performance.now() - startedAt)
    const line = { delivery_id: id, attempt: number, type, organisation_id, connection_id, outcome, status, reason, ms }
    if (state === 'failed') log.warn({ ...line, state }, 'delivery failed')
    else log.info({ ...line, state }, 'delivery attempted')
    return completed
  }
}

const nothingRecorded: Recorded = { exchange: null, key_id: null, sealed: null }

const notSent = (reason: string, isForEver = false): NotSent => ({
  outcome: 'not_sent',
  reason: `not sent: ${reason}`,
  isForEver,
})

const outcomeOf = (claimed: Claimed, answer: Exchange | NotSent, ended: Date): Omit<Completed, keyof Recorded> => {
  const { id, recorded_at, connection_id, number, started_at, waited_seconds } = claimed
  const reached = { id, recorded_at, connection_id, number, started_at, outcome: answer.outcome }
  if (answer.outcome === 'not_sent') {
    const unsent = claimed.unsent + 1
    const [state, delay_seconds] =
      answer.isForEver || unsent >= unsentMax
        ? (['failed', 0] as const)
        : (['pending', unsentDelaySeconds(unsent)] as const)
    return { ...reached, status: null, reason: storable(answer.reason), state, delay_seconds, waited_seconds }
  }

  const verdict = verdictOn(answer)
  const isAnswered = answer.outcome === 'answered'
  const delay =
    verdict === 'retry'
      ? nextDelay({
          sent: claimed.sent + 1,
          waitedSeconds: waited_seconds,
          chance: Math.random(),
          askedSeconds: isAnswered ? retryAfterSeconds(answer.header('retry-after'), ended) : undefined,
        })
      : undefined
  return {
    ...reached,
    status: isAnswered ? answer.status : null,
    reason: isAnswered ? null : storable(answer.reason),
    state: verdict === 'delivered' ? 'delivered' : delay ? 'pending' : 'failed',
    delay_seconds: delay?.seconds ?? 0,
    waited_seconds: delay?.waitedSeconds ?? waited_seconds,
  }
}

const storable = (reason: string): string => reason.replaceAll('\0', '').toWellFormed().slice(0, 500)
