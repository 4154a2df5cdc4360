import type { RetainedRecord, recordErasureEvents, retentionEvents } from '#domain/retention/events.ts'
import type { Sentences } from './sentence.ts'

const words: Partial<Record<RetainedRecord['type'], string>> = {
  message_news: 'report of a message',
  outcome_report: 'report of an outcome',
  outreach_person: 'message history of person',
}

const nameOf = ({ type, id }: RetainedRecord): string => `${words[type] ?? type} ${id}`

export const retentionSentences: Sentences<typeof retentionEvents & typeof recordErasureEvents> = {
  RetentionSet: ({ periods }) => {
    const set = Object.entries(periods).map(([kind, period]) => `${kind.replace('_', ' ')} ${period}`)
    return set.length === 0
      ? 'Records are kept without an end.'
      : `Records are kept after their end for: ${set.join(', ')}.`
  },
  RecordErasureRequested: ({ record, period }) =>
    period === null
      ? `The erasure of ${nameOf(record)} was asked for again, after a restore.`
      : `The erasure of ${nameOf(record)} was asked for: it is kept for ${period} after its end.`,
  RecordErasureGivenUp: ({ because }) => `The record is kept for now: ${because}`,
  RecordErased: ({ record, kept_with_person }) =>
    `The ${nameOf(record)} was erased${kept_with_person ? ', but for what goes with its person alone' : ''}.`,
}
