import { z } from 'zod'
import { findableText } from '#domain/invisible-characters.ts'

const text = (most: number) => z.string().trim().min(1).max(most)
/** Longer ones are cut, not refused: what somebody wrote under it is quoted mail, and the first line may be STOP. */
const mostText = 2_000

const cut = z.string().transform((whole) => whole.replaceAll('\0', '').trim().slice(0, mostText))

const about = {
  id: text(200).describe('The sender’s own: what is sent again is recorded once.'),
  channel: z.enum(['email', 'sms', 'whatsapp']),
  reference: z.string().max(200).nullish().describe('That of the message that it is about.'),
}
const from = z
  .string()
  .overwrite(findableText)
  .max(320)
  .transform((address) => address.toLowerCase())
  .describe('The person’s address: of email or, in E.164, a telephone number.')

/** A message gateway's report: see docs/message-gateway.md. */
export const GatewayReport = z.discriminatedUnion('type', [
  z.object({ ...about, type: z.literal('reply'), from, text: cut }),
  z.object({ ...about, type: z.literal('unsubscribe'), from }),
  z.object({ ...about, type: z.literal('undeliverable'), to: from, reason: cut.nullish() }),
])
export type GatewayReport = z.output<typeof GatewayReport>
