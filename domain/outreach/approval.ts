import { Rejection } from '../rejection.ts'
import type { Person } from './member.ts'
import { messageIds, type Decision } from './queueing.ts'

/** A draft for a person, and the team's decision about it. */
export type ApprovalCommand =
  | {
      readonly type: 'RecordDraft'
      readonly message_id: string
      readonly subject: string | null
      readonly body: string
      readonly auto_send: boolean
    }
  | {
      readonly type: 'FailDraft'
      readonly message_id: string
      readonly reason: string
      readonly retry_at: string | null
    }
  | {
      readonly type: 'EditMessage'
      readonly message_id: string
      readonly subject: string | null | undefined
      readonly body: string | undefined
    }
  | { readonly type: 'ApproveMessage' | 'DiscardMessage'; readonly message_id: string }

export const recordDraft = (command: Extract<ApprovalCommand, { type: 'RecordDraft' }>, person: Person): Decision => {
  const message = person.messages[command.message_id]
  if (message?.waits_for !== 'draft') return []
  const { subject, body, auto_send } = command
  const waits_for = auto_send ? 'sending' : 'approval'
  const { is_first } = message
  return [{ type: 'OutreachMessageDrafted', ...messageIds(message), waits_for, is_first, subject, body }]
}

export const failDraft = (command: Extract<ApprovalCommand, { type: 'FailDraft' }>, person: Person): Decision => {
  const message = person.messages[command.message_id]
  const { reason, retry_at } = command
  return message?.waits_for === 'draft'
    ? [{ type: 'OutreachDraftFailed', ...messageIds(message), reason, retry_at }]
    : []
}

export const judge = (
  command: Extract<ApprovalCommand, { type: 'EditMessage' | 'ApproveMessage' | 'DiscardMessage' }>,
  { messages }: Person,
): Decision => {
  const message = messages[command.message_id]
  if (!message) throw new Rejection('not_found', 'There is no message with this id that waits. Check the address.')
  if (command.type === 'ApproveMessage' && message.waits_for === 'sending') return []
  if (message.sending || message.sent.length > 0)
    throw new Rejection('conflict', 'The message is being sent: it cannot be changed any more.')
  const ids = messageIds(message)
  if (command.type === 'DiscardMessage')
    return [{ type: 'OutreachMessageDiscarded', ...ids, was_awaiting: message.waits_for === 'approval' }]
  if (message.waits_for === 'draft') throw new Rejection('conflict', 'The message is not written yet. Wait for it.')
  if (command.type !== 'EditMessage') return [{ type: 'OutreachMessageApproved', ...ids }]
  const { subject = message.subject, body = message.body } = command
  const isSame = subject === message.subject && body === message.body
  return isSame ? [] : [{ type: 'OutreachMessageEdited', ...ids, subject, body }]
}
