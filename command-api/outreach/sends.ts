import { isWorking, type OutreachStream } from '#domain/outreach/record.ts'
import { messagesOf } from '#domain/outreach/sending.ts'
import { permitGoodForMs } from '#domain/outreach/stream.ts'
import { derivedId } from '#infra/ids.ts'
import { sentText } from './links.ts'
import type { Turn, Waiting, WorkDeps } from './turn.ts'

const sendsAtOnce = 100

/** Sends messages, as far as the pace of their stream allows. */
export const makeSends = ({ streams, people, live, send, linksOf, clock }: WorkDeps) => {
  const now = () => clock.now().toISOString()

  /** Sends a message over one channel; false when that was not to be. */
  const sendOne = async (
    asked: OutreachStream,
    { contact_id, message }: Waiting,
    permittedAt: number,
    { contextOf }: Turn,
  ) => {
    const { message_id } = message
    // What was permitted longer ago does not count within the hour any more.
    if (clock.now().getTime() - permittedAt > permitGoodForMs) return false
    // As it is now: it may have been paused, or what it does cancelled, since the messages were permitted.
    const stream = live.streams.get(asked.id) ?? asked
    if (!isWorking(stream)) return false
    const facts = await people.factsOf(stream, contact_id, await people.load(contact_id))
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

  /** Sends by one channel after the other, as many as were permitted. */
  const sendAll = async (
    stream: OutreachStream,
    waiting: Waiting,
    messages: number,
    permittedAt: number,
    turn: Turn,
  ) => {
    const most = stream.all_channels ? messages : stream.channels.length
    for (let sent = 0; sent < most; sent++) if (!(await sendOne(stream, waiting, permittedAt, turn))) return
  }

  /** The sends that a message takes: one where it goes by the first channel that reaches. */
  const messagesFor = async (stream: OutreachStream, { contact_id, message }: Waiting): Promise<number> => {
    if (!stream.all_channels) return 1
    const { reachable } = await people.factsOf(stream, contact_id, await people.load(contact_id))
    return messagesOf(stream, message, reachable)
  }

  return {
    /** Sends the next ones; true when there may be more. */
    sendDue: async (stream: OutreachStream, turn: Turn): Promise<boolean> => {
      const { waiting, isFull } = await turn.page(stream, 'sending', sendsAtOnce)
      if (waiting.length === 0) return isFull
      const counts = new Map<string, number>()
      const asked = await turn.eachOf(waiting, async (each) => {
        counts.set(each.message.message_id, await messagesFor(stream, each))
      })
      turn.note(asked.failure)
      const requests = waiting.flatMap(({ message: { message_id } }) => {
        const messages = counts.get(message_id)
        return messages === undefined ? [] : [{ message_id, messages }]
      })
      const context = turn.contextOf(stream)
      const permit = { type: 'PermitSends', requests, now: context.now } as const
      const { events } = await streams.handle(stream.id, permit, context)
      const permits = new Map(
        events
          .flatMap((event) => (event.type === 'OutreachSendsPermitted' ? event.permits : []))
          .map(({ message_id, messages }) => [message_id, messages]),
      )
      const { failure } = await turn.eachOf(waiting, async (each) => {
        const messages = permits.get(each.message.message_id)
        if (messages !== undefined) await sendAll(stream, each, messages, Date.parse(context.now), turn)
      })
      turn.note(failure)
      return isFull && permits.size === requests.length
    },
  }
}
