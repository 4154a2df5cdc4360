import { Rejection } from '../rejection.ts'
import type { CustomerId, OrganisationId } from '../values.ts'
import type { JoinedBy } from './events.ts'
import type { Person } from './member.ts'
import { ended, isFirst, queued, type Circumstances, type Decision } from './queueing.ts'
import { reminderAt } from './schedule.ts'
import { isCancelled } from './sending.ts'
import { isOpen } from './stream-record.ts'

export type Join = Circumstances & {
  readonly type: 'Join'
  readonly organisation_id: OrganisationId
  readonly contact_id: CustomerId
  readonly member_id: string
  readonly columns: Readonly<Record<string, string>>
  readonly by: JoinedBy
}

/** Steps due by time for a person of a stream. */
export type DueCommand =
  | (Circumstances & { readonly type: 'NextDue' })
  /** The dates of reminders may be others than before. */
  | { readonly type: 'Reschedule'; readonly reminders: readonly Circumstances[] }
  | (Circumstances & { readonly type: 'GiveIssue'; readonly issue: number })

export const join = (command: Join, person: Person): Decision => {
  const { stream, organisation_id, contact_id, member_id, columns, reachable } = command
  const before = person.members[stream.id]
  if (before && before.state !== 'refused') return []
  if (!isOpen(stream))
    throw new Rejection('conflict', `People cannot join ${stream.slug}: it was not started, or is closed.`)
  const member = { stream_id: stream.id, member_id, organisation_id, contact_id }
  const first = firstDue(command)
  const reason = reachable.length === 0 ? 'no_consent' : first === undefined ? 'no_date' : undefined
  if (reason) return before ? [] : [{ type: 'OutreachJoinRefused', ...member, reason }]
  const joined = {
    type: 'OutreachJoined',
    ...member,
    columns,
    last_issue: stream.issue,
    subscribes: stream.kind === 'newsletter',
    next_at: first ?? null,
    by: command.by,
    was_refused: before !== undefined,
  } as const
  if (stream.kind === 'newsletter' || stream.kind === 'reminder') return [joined]
  return [joined, queued(command, { member_id, texts: 0, is_first: true }, 'text', 0)]
}

/** When a reminder is due; undefined where there is no date, or it is over. Null: not by time. */
const firstDue = ({ stream, date, now, time_zone }: Circumstances): string | null | undefined => {
  if (stream.kind !== 'reminder') return null
  const at = reminderOf({ stream, date, time_zone })
  return at === undefined || at < now ? undefined : at
}

const reminderOf = ({ stream, date, time_zone }: Pick<Circumstances, 'stream' | 'date' | 'time_zone'>) => {
  const { offset_days, send_at_local_time } = stream
  if (date === null || offset_days === null || send_at_local_time === null) return undefined
  return reminderAt(date, offset_days, send_at_local_time, time_zone)
}

export const nextDue = (command: Extract<DueCommand, { type: 'NextDue' }>, person: Person): Decision => {
  const { stream, now } = command
  const { members } = person
  const member = members[stream.id]
  if (member?.state !== 'in' || member.next_at === null || member.next_at > now) return []
  const { member_id, texts, follow_ups } = member
  if (isCancelled(stream, member)) return [ended(member, person, 'cancelled')]
  if (stream.kind === 'reminder' && texts === 0) {
    const at = reminderOf(command)
    if (at === undefined) return [ended(member, person, 'no_date')]
    if (at > now) return [{ type: 'OutreachRescheduled', stream_id: stream.id, member_id, next_at: at }]
  }
  const ofMember = { ...member, is_first: isFirst(member) }
  if (texts < stream.texts.length) return [queued(command, ofMember, 'text', texts)]
  if (follow_ups === 0 && stream.follow_up) return [queued(command, ofMember, 'follow_up', 1)]
  return [{ type: 'OutreachRescheduled', stream_id: stream.id, member_id, next_at: null }]
}

/** A reminder due already is left to its timer, which looks at the date as it is by then. */
export const rescheduled = (circumstances: Circumstances, { members }: Person): Decision => {
  const { stream, now } = circumstances
  const member = members[stream.id]
  if (stream.kind !== 'reminder' || member?.state !== 'in' || member.texts > 0) return []
  if (member.next_at !== null && member.next_at <= now) return []
  const next_at = firstDue(circumstances) ?? null
  const { member_id } = member
  return next_at === member.next_at ? [] : [{ type: 'OutreachRescheduled', stream_id: stream.id, member_id, next_at }]
}

export const giveIssue = (command: Extract<DueCommand, { type: 'GiveIssue' }>, person: Person): Decision => {
  const { stream, issue } = command
  const member = person.members[stream.id]
  if (member?.state !== 'in' || !member.subscribes || member.last_issue >= issue) return []
  if (isCancelled(stream, member)) return [ended(member, person, 'cancelled')]
  return [queued(command, { ...member, is_first: isFirst(member) }, 'issue', issue)]
}
