import type { legalHoldEvents } from '#domain/legal-holds/events.ts'
import type { Sentences } from './sentence.ts'

export const legalHoldSentences: Sentences<typeof legalHoldEvents> = {
  LegalHoldPlaced: ({ record }) =>
    record === null
      ? 'A legal hold was placed: nothing of the person is erased until it ends.'
      : `A legal hold was placed because of ${record.type} ${record.id}: nothing of the person is erased until it ends.`,
  LegalHoldEnded: () => 'The legal hold was ended.',
}
