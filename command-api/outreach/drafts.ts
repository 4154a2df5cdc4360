import { textOf } from '#domain/outreach/message-text.ts'
import { microPenceOf, rateOn } from '#domain/outreach/money.ts'
import { noSettings, type OutreachStream } from '#domain/outreach/record.ts'
import { dateIn } from '#domain/time-zone.ts'
import { newId } from '#infra/ids.ts'
import type { DraftWriter } from './draft-writer.ts'
import type { Turn, Waiting, WorkDeps } from './turn.ts'
import { realTime } from '#infra/clock.ts'

/** Paid drafts are all under way at once; none is reserved and not begun. */
const paidAtOnce = 16
const freeAtOnce = 100
const retryMinutes = [1, 5, 30, 120]

/** Has a writer make messages, as far as the ceiling of their stream allows. */
export const makeDrafts = ({ streams, people, live, writerFor, clock }: WorkDeps) => {
  const now = () => clock.now().toISOString()

  /** The facts of a message that is to go on; undefined when it was skipped. */
  const checked = async (
    stream: OutreachStream,
    { contact_id, message: { message_id } }: Waiting,
    { contextOf }: Turn,
  ) => {
    const facts = await people.factsOf(stream, contact_id, await people.load(contact_id))
    const check = { type: 'CheckMessage', message_id, ...facts, now: now() } as const
    const { events } = await people.handle(contact_id, check, contextOf(stream))
    return events.length > 0 ? undefined : facts
  }

  const draftOne = async (
    stream: OutreachStream,
    waiting: Waiting,
    { writer, call_id }: { readonly writer: DraftWriter; readonly call_id: string | undefined },
    turn: Turn,
  ): Promise<void> => {
    const { contextOf } = turn
    const { contact_id, message } = waiting
    const { message_id, answers } = message
    const release = async () => {
      if (call_id !== undefined) await streams.handle(stream.id, { type: 'ReleaseDraft', call_id }, contextOf(stream))
    }
    const facts = await checked(stream, waiting, turn).catch(async (error: unknown) => {
      await release()
      throw error
    })
    if (!facts) {
      await release()
      return
    }
    const { known } = facts
    const text = textOf(stream, message.role, message.number)
    const draft = await writer.write({ id: message_id, stream, text, known, answers })
    const { usd_micros, model } = draft
    if (usd_micros > 0 && call_id !== undefined) {
      const cost = costOf(stream, usd_micros, model, facts.time_zone)
      await streams.handle(stream.id, { type: 'ChargeDraft', call_id, cost }, contextOf(stream))
    } else await release()
    if (draft.outcome === 'written') {
      const { subject, body } = draft
      const record = { type: 'RecordDraft', message_id, subject, body, auto_send: stream.auto_send } as const
      await people.handle(contact_id, record, contextOf(stream))
      return
    }
    const minutes = retryMinutes[message.attempts]
    const retry_at = minutes === undefined ? null : new Date(clock.now().getTime() + minutes * 60_000).toISOString()
    const fail = { type: 'FailDraft', message_id, reason: draft.reason, retry_at } as const
    await people.handle(contact_id, fail, contextOf(stream))
  }

  /** At the rate of today. */
  const costOf = ({ organisation_id }: OutreachStream, usd_micros: number, model: string, time_zone = 'UTC') => {
    const { day: rate_day, usd_rate } = rateOn(
      live.settings.get(organisation_id) ?? noSettings,
      dateIn(time_zone, now()),
    )
    return { usd_micros, usd_rate, rate_day, micro_pence: microPenceOf(usd_micros, usd_rate), model }
  }

  return {
    /** Writes the next ones; true when there may be more. */
    draft: async (stream: OutreachStream, turn: Turn): Promise<boolean> => {
      const writer = writerFor(stream.organisation_id)
      const { most_usd_micros, model } = writer
      const isFree = most_usd_micros === 0
      const { waiting, isFull } = await turn.page(stream, 'draft', isFree ? freeAtOnce : paidAtOnce)
      if (waiting.length === 0) return isFull
      if (isFree) {
        const { failure } = await turn.eachOf(waiting, async (each) =>
          draftOne(stream, each, { writer, call_id: undefined }, turn),
        )
        turn.note(failure)
        return isFull
      }
      const context = turn.contextOf(stream)
      const drafts = waiting.map(({ contact_id, message: { message_id } }) => ({
        call_id: newId(),
        message_id,
        contact_id,
      }))
      const most = costOf(stream, most_usd_micros, model)
      const asked_at = realTime().toISOString()
      const reserve = { type: 'ReserveDrafts', drafts, most, asked_at } as const
      const { events } = await streams.handle(stream.id, reserve, context)
      const granted = new Map(
        events
          .flatMap((event) => (event.type === 'OutreachDraftsReserved' ? event.drafts : []))
          .map(({ message_id, call_id }) => [message_id, call_id]),
      )
      const notBegun = new Map(granted)
      const { failure } = await turn.eachOf(waiting, async (each) => {
        const { message_id } = each.message
        const call_id = granted.get(message_id)
        notBegun.delete(message_id)
        if (call_id !== undefined) await draftOne(stream, each, { writer, call_id }, turn)
      })
      turn.note(failure)
      // What this process had no time for was not asked for, and costs nothing.
      for (const call_id of notBegun.values())
        await streams.handle(stream.id, { type: 'ReleaseDraft', call_id }, turn.contextOf(stream))
      return isFull && granted.size === waiting.length
    },
  }
}
