import { z } from 'zod'
import { filledIn } from '#domain/outreach/message-text.ts'
import type { OutreachSettings, OutreachStream } from '#domain/outreach/record.ts'
import type { OpenedAccount } from '#infra/ask-json.ts'
import type { AskModel } from '#infra/lead-reader/openai-compatible.ts'

/** The brief for a draft. A writer gets no more about the person than their first name and, for a reply, what they wrote. */
export type Brief = {
  /** The same for the same message: a writer that knows repeats is paid once. */
  readonly id: string
  readonly stream: Pick<OutreachStream, 'kind' | 'purpose' | 'goal' | 'channels' | 'from_name'>
  readonly text: { readonly subject: string | null; readonly body: string }
  readonly known: Readonly<Record<string, string | null>>
  /** The person's own words, where this answers them. */
  readonly answers: string | null
}

export type Draft =
  | {
      readonly outcome: 'written'
      readonly subject: string | null
      readonly body: string
      readonly usd_micros: number
      readonly model: string
    }
  /** `usd_micros`: what it cost all the same. */
  | { readonly outcome: 'failed'; readonly reason: string; readonly usd_micros: number; readonly model: string }

/** Writes a draft. `most_usd_micros` bounds what one call can cost. */
export type DraftWriter = {
  readonly most_usd_micros: number
  readonly model: string
  readonly write: (brief: Brief) => Promise<Draft>
}

/** Writes what it is told to say, and costs nothing: for organisations without an account with a writer. */
export const deterministicWriter: DraftWriter = {
  most_usd_micros: 0,
  model: 'deterministic',
  write: async ({ text, known, answers }) => {
    const greeting = filledIn(known['first_name'] ? 'Hello {{first_name}},' : 'Hello,', known)
    const thanks = answers === null ? '' : 'Thank you for your message. '
    return {
      outcome: 'written',
      subject: text.subject === null ? null : filledIn(text.subject, known),
      body: `${greeting}\n\n${thanks}${filledIn(text.body, known)}`,
      usd_micros: 0,
      model: 'deterministic',
    }
  },
}

const Written = z.object({
  subject: z.string().trim().max(200).nullish(),
  body: z.string().trim().min(1).max(10_000),
})

const instructions = `You write one short message from a UK insurance firm to one person, who has agreed to be contacted.
Write plainly and truthfully. Promise nothing, name no price, give no advice on what to buy. Do not invent facts.
Answer with a JSON object: { "subject": text or null, "body": text }. The firm adds links itself: write none.`

const mostTokensWritten = 700
/** More than the longest brief with what the person wrote. A token is a byte at least, so no more tokens are read. */
const mostBytesRead = 65_536

/** Further bytes that a model may read, such as marks between messages. */
const furtherBytesRead = 200

const costOf = ({ writer_price }: OutreachSettings, read: number, written: number): number =>
  Math.ceil((read * writer_price.input_usd_micros + written * writer_price.output_usd_micros) / 1_000_000)

/** A language model of the organisation's own, at the prices that are set up. */
export const modelWriter = (ask: AskModel, account: OpenedAccount, settings: OutreachSettings): DraftWriter => ({
  most_usd_micros: costOf(settings, mostBytesRead, mostTokensWritten),
  model: account.account ?? 'default',
  write: async ({ id, stream, text, known, answers }) => {
    const material = JSON.stringify({
      to: known['first_name'] ?? null,
      from: stream.from_name,
      purpose: stream.purpose,
      goal: stream.goal,
      channel: stream.channels[0],
      subject: text.subject,
      say: text.body,
      they_wrote: answers?.slice(0, 2_000) ?? null,
    })
    const answer = await ask(account, { instructions, material, id, mostTokens: mostTokensWritten })
    const model = account.account ?? 'default'
    const bytesRead = Buffer.byteLength(instructions) + Buffer.byteLength(material) + furtherBytesRead
    // What a call has cost that does not say so: as much as it can have been, so that the ceiling holds.
    const unsaid = costOf(settings, Math.min(bytesRead, mostBytesRead), mostTokensWritten)
    if (answer.outcome === 'busy') return { outcome: 'failed', reason: 'the writer is busy', usd_micros: 0, model }
    if (answer.outcome === 'unanswered')
      return { outcome: 'failed', reason: answer.reason, usd_micros: answer.mayCost ? unsaid : 0, model }
    const usd_micros = answer.usage ? costOf(settings, answer.usage.read, answer.usage.written) : unsaid
    const written = Written.safeParse(parsed(answer.text)).data
    if (!written) return { outcome: 'failed', reason: 'the writer wrote no message', usd_micros, model }
    return { outcome: 'written', subject: written.subject ?? text.subject, body: written.body, usd_micros, model }
  },
})

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
