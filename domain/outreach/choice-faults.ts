import type { Fields } from '../rejection.ts'
import type { StreamChoices } from './events.ts'
import type { OutreachStream } from './stream-record.ts'

type Fault = readonly [field: string, reason: string]

const needed = (kind: string, field: string, value: unknown): readonly Fault[] =>
  value === null ? [[field, `is needed for a ${kind}`]] : []

const unneeded = (kind: string, field: string, value: unknown): readonly Fault[] =>
  value === null ? [] : [[field, `has no place in a ${kind}`]]

/** Reasons against the choices for a stream of this kind, by field. */
export const choiceFaults = (kind: OutreachStream['kind'], choices: StreamChoices): Fields => {
  const { channels, texts, follow_up, follow_up_after_days, date_column, date_field, offset_days, schedule } = choices
  const { send_at_local_time, skip_if_unchanged, survey, message_mode, landing_url } = choices
  const isReminder = kind === 'reminder'
  const isNewsletter = kind === 'newsletter'
  const repeated = channels.find((channel, index) => channels.indexOf(channel) !== index)
  const timed = isReminder || isNewsletter ? needed : unneeded
  const ofNewsletter = isNewsletter ? needed : unneeded

  return Object.fromEntries<string>([
    ...(channels.length === 0 ? [['channels', 'must name at least one channel'] as const] : []),
    ...(repeated ? [['channels', `names ${repeated} twice`] as const] : []),
    ...(texts.length === 0 ? [['texts', 'must hold what the message says'] as const] : []),
    ...(kind !== 'sequence' && texts.length > 1 ? [['texts', `are one for a ${kind}`] as const] : []),
    ...(channels.includes('email') && message_mode === 'fixed'
      ? texts.flatMap(({ subject }, index): Fault[] =>
          subject === null ? [[`texts[${index}].subject`, 'is needed for an email']] : [],
        )
      : []),
    ...timed(kind, 'send_at_local_time', send_at_local_time),
    ...(isReminder ? needed : unneeded)(kind, 'offset_days', offset_days),
    ...(isReminder && (date_column === null) === (date_field === null)
      ? [['date_field', 'or date_column is needed for a reminder, and not both'] as const]
      : []),
    ...(isReminder ? [] : [...unneeded(kind, 'date_column', date_column), ...unneeded(kind, 'date_field', date_field)]),
    ...ofNewsletter(kind, 'schedule', schedule),
    ...ofNewsletter(kind, 'skip_if_unchanged', skip_if_unchanged),
    ...(kind === 'survey' ? needed : unneeded)(kind, 'survey', survey),
    ...(isNewsletter && follow_up_after_days > 0
      ? [['follow_up_after_days', 'must be 0 for a newsletter'] as const]
      : []),
    ...(follow_up_after_days > 0 && follow_up === null
      ? [['follow_up', 'must say what the follow-up says, or follow_up_after_days be 0'] as const]
      : []),
    ...(landing_url !== null && !/^https?:\/\/[^\s/]+/.test(landing_url)
      ? [['landing_url', 'must be a web address, such as https://example.com'] as const]
      : []),
  ])
}
