import type { Pool } from 'pg'
import { LeaseLost } from '#infra/consumers/required-lease.ts'
import type { DataKeys } from '#infra/crypto/data-keys.ts'
import type { Keys } from '#infra/crypto/keys.ts'
import type { Exchange, GuardedHttp } from '#infra/guarded-http.ts'
import type { Log } from '#infra/log.ts'
import type { Metrics } from '#infra/metrics.ts'
import { reasonOf } from '#infra/reason.ts'
import { nextDelay, retryAfterSeconds, unsentDelaySeconds, unsentMax, verdictOn } from './backoff.ts'
import { recordInIntegrationLog } from '#infra/integration-log.ts'
import { kindNamed, type Capabilities } from '../capability.ts'
import type { Fill } from '../custom-integrations/filling.ts'
import { exchangeRecorder, type Recorded } from './exchange.ts'
import type { Claimed, Completed } from './queue.ts'
import { makeTokens } from './tokens.ts'

export type SendParts = {
  readonly capabilities: Capabilities
  readonly http: GuardedHttp
  readonly fill: Fill
  readonly keys: Keys
  readonly dataKeys: Pick<DataKeys, 'of'>
  readonly now: () => Date
  readonly pool: Pick<Pool, 'query'>
  readonly log: Log
  readonly metrics: Metrics
}

/** The body of a delivery, or why there is none, for now or for ever. */
export type Body = { readonly text: string } | { readonly missing: string; readonly isForEver?: boolean }

/** Nothing was sent, for a reason on our side that an operator may put right, or that stays for ever. */
type NotSent = { readonly outcome: 'not_sent'; readonly reason: string; readonly isForEver: boolean }

/** The order of what is sent about one record: a later event has a greater number. */
const sequenceHeader = 'X-Service-Sequence'

/** Sends a delivery once, signed for this attempt, and says what becomes of it. */
export const makeSend = ({ capabilities, http, fill, keys, dataKeys, now, pool, log, metrics }: SendParts) => {
  const outside = { db: pool, tokens: makeTokens(http), fill }
  const recordExchange = exchangeRecorder(dataKeys)

  /** Together with what comes before it, a request ends within the deadline of one. */
  const exchange = async (claimed: Claimed, text: string, startedAt: number) => {
    const { id, organisation_id, connection_id, connection_type, connection, sequence } = claimed
    if (connection_type === null || connection === null) return notSent('its connection is not known')
    const kind = kindNamed(capabilities.connections, connection_type)
    const sending = { id, organisation_id, connection_id, body: text, keys, now: now() }
    const sendOnce = async () => {
      const prepared = await kind.prepare(connection, sending, outside)
      const made = kind.request(prepared, sending)
      const timeoutMs = Math.max(1, http.timeoutMs - (performance.now() - startedAt))
      const request = { ...made, timeoutMs, headers: { ...made.headers, [sequenceHeader]: String(sequence) } }
      return { prepared, request, answer: await http.request(request) }
    }
    const first = await sendOnce()
    if (first.answer.outcome !== 'answered') return first
    return kind.isStale(first.prepared, sending, outside, first.answer) ? sendOnce() : first
  }

  /** Nothing that fails on the way ends the worker. */
  const attempt = async (claimed: Claimed, body: Body) => {
    try {
      if ('missing' in body) return { answer: notSent(body.missing, body.isForEver), recorded: nothingRecorded }
      const sent = await exchange(claimed, body.text, performance.now())
      if ('outcome' in sent) return { answer: sent, recorded: nothingRecorded }
      // Whatever becomes of the record, it was sent.
      const recorded = recordExchange(claimed, body.text, sent.request, sent.answer).catch(() => nothingRecorded)
      return { answer: sent.answer, recorded: await recorded }
    } catch (error) {
      if (error instanceof LeaseLost) throw error
      return { answer: notSent(reasonOf(error)), recorded: nothingRecorded }
    }
  }

  /** Calls of integrations also stand in the integration log. */
  const logAttempt = async (
    { id, organisation_id, connection_id, connection_type, connection, type }: Claimed,
    { status, reason, state }: Pick<Completed, 'status' | 'reason' | 'state'>,
  ): Promise<void> => {
    const kind = capabilities.connections.find((each) => each.type === connection_type)
    const custom_integration_id = connection && kind?.integrationOf(connection)
    if (!custom_integration_id) return
    const entry = {
      organisation_id,
      custom_integration_id,
      connection_id,
      direction: 'outbound',
      accepted: state === 'delivered',
      status,
      reason: state === 'delivered' ? 'delivered' : (reason ?? (state === 'failed' ? 'failed' : 'tried again')),
      event_type: type,
      subject_id: id,
      bytes: null,
      source_address: null,
    } as const
    await recordInIntegrationLog(pool, entry).catch((error: unknown) => {
      log.warn({ error, delivery_id: id }, 'call was not written to the integration log')
    })
  }

  return async (claimed: Claimed, body: Body): Promise<Completed> => {
    const { id, number, organisation_id, connection_id, type } = claimed
    const startedAt = performance.now()
    const { answer, recorded } = await attempt(claimed, body)
    const completed = { ...outcomeOf(claimed, answer, now()), ...recorded }

    await logAttempt(claimed, completed)
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
