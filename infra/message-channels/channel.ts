/** A message as a channel takes it. */
export type OutgoingMessage = {
  /** The same for the same message over the same channel: a channel that has seen it sends nothing again. */
  readonly id: string
  readonly organisation_id: string
  readonly contact_id: string
  readonly channel: 'email' | 'sms' | 'whatsapp'
  /** An email address, or a telephone number in E.164. */
  readonly to: string
  readonly from_name: string | null
  readonly subject: string | null
  readonly text: string
  /** The address for withdrawing consent, in one step. */
  readonly unsubscribe_url: string
  /** Comes back with news of the message. */
  readonly reference: string
  /** Business time, ISO 8601. */
  readonly sent_at: string
}

/** The outcome of a send. That a channel is down, or refuses, is no exception. */
export type SendResult =
  | { readonly outcome: 'sent'; readonly reference: string | null }
  /** It never will take this message to this address. */
  | { readonly outcome: 'refused'; readonly reason: string }
  /** It may have gone out or not. */
  | { readonly outcome: 'unanswered'; readonly reason: string }
