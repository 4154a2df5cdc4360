import type { recordErasureEvents, retentionEvents } from '#domain/retention/events.ts'
import type { Sentences } from './sentence.ts'

export const retentionSentences: Sentences<typeof retentionEvents & typeof recordErasureEvents> = {
  RetentionSet: ({ periods }) => {
    const set = Object.entries(periods).map(([kind, period]) => `${kind.replace('_', ' ')} ${period}`)
    return set.length === 0
      ? 'Records are kept without an end.'
      : `Records are kept after their end for: ${set.join(', ')}.`
  },
  RecordErasureRequested: ({ record, period }) =>
    period === null
      ? `The erasure of ${record.type} ${record.id} was asked for again, after a restore.`
      : `The erasure of ${record.type} ${record.id} was asked for: it is kept for ${period} after its end.`,
  RecordErasureGivenUp: ({ because }) => `The record is kept for now: ${because}`,
  RecordErased: ({ record, kept_with_person }) =>
    `The ${record.type} ${record.id} was erased${kept_with_person ? ', but for what goes with its person alone' : ''}.`,
}
