import type { Decider } from '../decider.ts'
import { failDraft, judge, recordDraft, type ApprovalCommand } from './approval.ts'
import { giveIssue, join, nextDue, rescheduled, type DueCommand, type Join } from './due.ts'
import { outreachPersonEvents, type OutreachPersonEvent } from './events.ts'
import { evolvePerson, nobody, type Message, type Person } from './member.ts'
import { messageIds, type Circumstances, type Decision } from './queueing.ts'
import {
  answerSurvey,
  endAll,
  noteActivity,
  noteConsent,
  noteLanding,
  noteUndelivered,
  type ResponseCommand,
} from './responses.ts'
import { beginSending, recordFailure, recordSent, skipReason, type SendingCommand } from './sending.ts'
import { isOpen } from './stream-record.ts'

export type PersonCommand =
  | Join
  /** Several streams in one append; those that nobody can join are left out. */
  | { readonly type: 'JoinSeveral'; readonly joins: readonly Join[] }
  | DueCommand
  | (Circumstances & { readonly type: 'CheckMessage'; readonly message_id: string })
  | ApprovalCommand
  | SendingCommand
  | ResponseCommand

const decide = (command: PersonCommand, person: Person): Decision => {
  switch (command.type) {
    case 'Join':
      return join(command, person)
    case 'JoinSeveral':
      return command.joins.filter(({ stream }) => isOpen(stream)).flatMap((each) => join(each, person))
    case 'NextDue':
      return nextDue(command, person)
    case 'Reschedule':
      return command.reminders.flatMap((each) => rescheduled(each, person))
    case 'GiveIssue':
      return giveIssue(command, person)
    case 'CheckMessage': {
      const message = person.messages[command.message_id]
      const reason = message && skipReason(command, message, person)
      return reason ? [skipped(message, reason, person)] : []
    }
    case 'RecordDraft':
      return recordDraft(command, person)
    case 'FailDraft':
      return failDraft(command, person)
    case 'EditMessage':
    case 'ApproveMessage':
    case 'DiscardMessage':
      return judge(command, person)
    case 'BeginSending':
      return beginSending(command, person)
    case 'RecordSent':
      return recordSent(command, person)
    case 'RecordFailure':
      return recordFailure(command, person)
    case 'NoteActivity':
      return noteActivity(command, person)
    case 'NoteLanding':
      return noteLanding(command, person)
    case 'NoteUndelivered':
      return noteUndelivered(command, person)
    case 'EndAll':
      return endAll(person)
    case 'NoteConsent':
      return noteConsent(command, person)
    case 'AnswerSurvey':
      return answerSurvey(command, person)
  }
}

const skipped = (
  message: Message,
  reason: NonNullable<ReturnType<typeof skipReason>>,
  { members }: Person,
): OutreachPersonEvent => ({
  type: 'OutreachMessageSkipped',
  ...messageIds(message),
  reason,
  is_person_skipped: members[message.stream_id]?.first_sent_at === null && message.sent.length === 0,
  was_unwritten: message.waits_for === 'draft' && message.is_first,
})

export const outreachPerson: Decider<PersonCommand, typeof outreachPersonEvents, Person> = {
  category: 'outreach_person',
  events: outreachPersonEvents,
  initialState: nobody,
  decide,
  evolve: evolvePerson,
}
