import type { Message } from '#domain/outreach/member.ts'
import { textOf } from '#domain/outreach/message-text.ts'
import { microPenceOf, rateOn } from '#domain/outreach/money.ts'
import { isWorking, noSettings, type OutreachStream } from '#domain/outreach/record.ts'
import { messagesOf } from '#domain/outreach/sending.ts'
import { permitGoodForMs } from '#domain/outreach/stream.ts'
import { dateIn } from '#domain/time-zone.ts'
import { CustomerId, type OrganisationId } from '#domain/values.ts'
import type { Clock } from '#infra/clock.ts'
import { isAboutErased } from '#infra/crypto/erased.ts'
import { derivedId, newId } from '#infra/ids.ts'
import type { Log } from '#infra/log.ts'
import type { Context } from '../handle.ts'
import type { SendMessage } from './channels.ts'
import type { DraftWriter } from './draft-writer.ts'
import { sentText, type Links } from './links.ts'
import type { OutreachPeople } from './people.ts'
import type { QueuedWork } from './queue.ts'
import type { LiveOutreach, Streams } from './streams.ts'

export type WorkDeps = {
  readonly streams: Streams
  readonly people: OutreachPeople
  readonly live: LiveOutreach
  readonly queue: QueuedWork
  readonly writerFor: (organisation_id: OrganisationId) => DraftWriter
  readonly send: SendMessage
  readonly linksOf: (stream: OutreachStream, contact_id: string, message_id: string) => Links
  readonly clock: Clock
  readonly log: Log
}

type Waiting = { readonly contact_id: CustomerId; readonly message: Message }

const draftsAtOnce = 8
const sendsAtOnce = 50
const concurrency = 8
const subscribersAtOnce = 100
const membersAtOnce = 500
const lowestId = '00000000-0000-0000-0000-000000000000'

const retryMinutes = [1, 5, 30, 120]

/** What one stream has to do now. Two processes may do it at the same time: the events decide who writes and who sends. */
export const makeWork = (deps: WorkDeps) => {
  const { streams, people, live, queue, writerFor, send, linksOf, clock, log } = deps

  const now = () => clock.now().toISOString()

  const contextOf = ({ organisation_id }: OutreachStream): Context => ({
    organisation_id,
    actor: { type: 'system', id: 'outreach' },
    correlation_id: newId(),
    now: now(),
  })

  const eachOf = async <Item>(items: readonly Item[], work: (item: Item) => Promise<unknown>): Promise<void> => {
    const waiting = items.values()
    const next = async () => {
      for (const item of waiting)
        try {
          await work(item)
        } catch (error) {
          // Nothing follows any more for a person who was erased.
          if (isAboutErased(error)) log.info({ error }, 'nothing is sent: the person was erased')
          else throw error
        }
    }
    const ended = await Promise.allSettled(Array.from({ length: concurrency }, next))
    const failure = ended.find((outcome) => outcome.status === 'rejected')
    if (failure) throw failure.reason
  }

  /** Those of the queue that still wait for the step: the queue may be behind. */
  const stillWaiting = async (
    { organisation_id, id }: OutreachStream,
    step: 'draft' | 'sending',
    most: number,
  ): Promise<readonly Waiting[]> => {
    const queued = await queue.next(organisation_id, id, step, now(), most)
    const found = await Promise.all(
      queued.map(async ({ id: message_id, contact_id }) => {
        const message = (await people.load(contact_id)).messages[message_id]
        return message?.waits_for === step ? [{ contact_id: CustomerId.parse(contact_id), message }] : []
      }),
    )
    return found.flat()
  }

  const factsOf = async (stream: OutreachStream, contact_id: CustomerId) =>
    people.factsOf(stream, contact_id, await people.load(contact_id))

  /** The facts of a message that is to go on; undefined when it was skipped. */
  const checked = async (stream: OutreachStream, { contact_id, message: { message_id } }: Waiting) => {
    const facts = await factsOf(stream, contact_id)
    const check = { type: 'CheckMessage', message_id, ...facts, now: now() } as const
    const { events } = await people.handle(contact_id, check, contextOf(stream))
    return events.length > 0 ? undefined : facts
  }

  const draftOne = async (stream: OutreachStream, waiting: Waiting, call_id: string): Promise<void> => {
    const { contact_id, message } = waiting
    const { message_id, answers } = message
    const release = async () => streams.handle(stream.id, { type: 'ReleaseDraft', call_id }, contextOf(stream))
    const facts = await checked(stream, waiting).catch(async (error: unknown) => {
      await release()
      throw error
    })
    if (!facts) {
      await release()
      return
    }
    const { known } = facts
    const text = textOf(stream, message.role, message.number)
    const draft = await writerFor(stream.organisation_id).write({ id: message_id, stream, text, known, answers })
    const { usd_micros, model } = draft
    if (usd_micros > 0) {
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

  const draft = async (stream: OutreachStream): Promise<void> => {
    const waiting = await stillWaiting(stream, 'draft', draftsAtOnce)
    if (waiting.length === 0) return
    const context = contextOf(stream)
    const { most_usd_micros, model } = writerFor(stream.organisation_id)
    const drafts = waiting.map(({ contact_id, message: { message_id } }) => ({
      call_id: newId(),
      message_id,
      contact_id,
    }))
    const most = costOf(stream, most_usd_micros, model)
    const reserve = { type: 'ReserveDrafts', drafts, most, now: context.now } as const
    const { events } = await streams.handle(stream.id, reserve, context)
    const granted = new Map(
      events
        .flatMap((event) => (event.type === 'OutreachDraftsReserved' ? event.drafts : []))
        .map(({ message_id, call_id }) => [message_id, call_id]),
    )
    await eachOf(waiting, async (each) => {
      const call_id = granted.get(each.message.message_id)
      if (call_id !== undefined) await draftOne(stream, each, call_id)
    })
  }

  /** Sends a message over one channel; false when that was not to be. */
  const sendOne = async (stream: OutreachStream, { contact_id, message }: Waiting, permittedAt: number) => {
    const { message_id } = message
    // What was permitted longer ago does not count within the hour any more.
    if (clock.now().getTime() - permittedAt > permitGoodForMs) return false
    const facts = await factsOf(stream, contact_id)
    const circumstances = { stream, message_id, reachable: facts.reachable }
    const context = contextOf(stream)
    const begin = { type: 'BeginSending', ...circumstances, now: context.now } as const
    const { events, state } = await people.handle(contact_id, begin, context)
    const begun = events.find((event) => event.type === 'OutreachSendingBegun')
    const written = state.messages[message_id]
    const to = begun && facts.addresses[begun.channel]
    if (!begun || !written || !to) return false
    const { channel } = begun
    const links = linksOf(stream, contact_id, message_id)
    const result = await send({
      id: derivedId('outreach_delivery', message_id, channel),
      organisation_id: stream.organisation_id,
      contact_id,
      channel,
      to,
      from_name: stream.from_name,
      subject: channel === 'email' ? written.subject : null,
      text: sentText(written, stream.survey, links),
      unsubscribe_url: links.unsubscribe,
      reference: links.news,
      sent_at: now(),
    })
    const after = contextOf(stream)
    const about = { ...circumstances, channel, now: after.now }
    if (result.outcome === 'sent') {
      await people.handle(contact_id, { type: 'RecordSent', ...about, reference: result.reference }, after)
      return stream.all_channels
    }
    const is_final = result.outcome === 'refused'
    const { reason } = result
    await people.handle(contact_id, { type: 'RecordFailure', ...about, reason, is_final }, after)
    return is_final
  }

  /** By one channel after the other, as many as were permitted. */
  const sendAll = async (stream: OutreachStream, waiting: Waiting, messages: number, permittedAt: number) => {
    const most = stream.all_channels ? messages : stream.channels.length
    for (let sent = 0; sent < most; sent++) if (!(await sendOne(stream, waiting, permittedAt))) return
  }

  const sendDue = async (stream: OutreachStream): Promise<void> => {
    const waiting = await stillWaiting(stream, 'sending', sendsAtOnce)
    if (waiting.length === 0) return
    const requests = await Promise.all(
      waiting.map(async ({ contact_id, message }) => {
        const { reachable } = await factsOf(stream, contact_id)
        return { message_id: message.message_id, messages: messagesOf(stream, message, reachable) }
      }),
    )
    const context = contextOf(stream)
    const permit = { type: 'PermitSends', requests, now: context.now } as const
    const { events } = await streams.handle(stream.id, permit, context)
    const permits = new Map(
      events
        .flatMap((event) => (event.type === 'OutreachSendsPermitted' ? event.permits : []))
        .map(({ message_id, messages }) => [message_id, messages]),
    )
    await eachOf(waiting, async (each) => {
      const messages = permits.get(each.message.message_id)
      if (messages !== undefined) await sendAll(stream, each, messages, Date.parse(context.now))
    })
  }

  /** Gives an issue to subscribers who have not got it, and says so when that is everyone. */
  const handOut = async (stream: OutreachStream): Promise<void> => {
    if (stream.issue <= stream.issue_handed_out) return
    const { organisation_id, id, issue } = stream
    const { contacts, isComplete } = await queue.subscribersWithout(organisation_id, id, issue, subscribersAtOnce)
    await eachOf(contacts, async (each) => {
      const contact_id = CustomerId.parse(each)
      const facts = await factsOf(stream, contact_id)
      const context = contextOf(stream)
      await people.handle(contact_id, { type: 'GiveIssue', issue, ...facts, now: context.now }, context)
    })
    if (contacts.length === 0 && isComplete)
      await streams.handle(id, { type: 'IssueHandedOut', issue }, contextOf(stream))
  }

  /** How far the move of a stream's reminders has come. A process that takes it over begins anew: again, nothing changes. */
  const moves = new Map<string, { readonly timing: number; readonly after: string }>()

  /** Has the reminders of people be due at the times that the stream says now. */
  const moveReminders = async (stream: OutreachStream): Promise<void> => {
    const { organisation_id, id, timing, timing_moved } = stream
    if (timing <= timing_moved) return
    const known = moves.get(id)
    const after = known?.timing === timing ? known.after : lowestId
    const { contacts, isComplete } = await queue.membersAfter(organisation_id, id, timing, after, membersAtOnce)
    await eachOf(contacts, async (each) => {
      const contact_id = CustomerId.parse(each)
      const context = contextOf(stream)
      const reminders = [{ ...(await factsOf(stream, contact_id)), now: context.now }]
      await people.handle(contact_id, { type: 'Reschedule', reminders }, context)
    })
    const last = contacts.at(-1)
    if (last !== undefined) moves.set(id, { timing, after: last })
    else if (isComplete) {
      await streams.handle(id, { type: 'RemindersMoved', timing }, contextOf(stream))
      moves.delete(id)
    }
  }

  return async (stream_id: string): Promise<void> => {
    const { stream } = await streams.load(stream_id)
    if (!stream || !live.settings.get(stream.organisation_id)?.is_on) return
    await moveReminders(stream)
    if (!isWorking(stream)) return
    await handOut(stream)
    await draft(stream)
    await sendDue(stream)
  }
}
