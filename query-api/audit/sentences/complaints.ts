import type { complaintEvents } from '#domain/complaints/events.ts'
import { day, words, type Sentences } from './sentence.ts'

export const complaintSentences: Sentences<typeof complaintEvents> = {
  ComplaintOpened: ({ received_at, cause, respond_by }) =>
    `A complaint was opened that was received on ${day(received_at)} (${words(cause)}): a decision is due by ${respond_by}.`,
  ComplaintNoteAdded: () => 'A note was added.',
  ComplaintDecided: ({ decision, response, decided_at }) =>
    `The complaint was ${words(decision)} by ${words(response)} on ${day(decided_at)}.`,
  ComplaintRedressed: ({ amount_pence }, money) =>
    amount_pence === null
      ? 'It was recorded how the firm made good.'
      : `Redress of ${money(amount_pence)} was recorded.`,
  ComplaintReferred: ({ referred_on }) => `The complaint was referred to the ombudsman on ${referred_on}.`,
  ComplaintClosed: ({ withdrawn, keep_until }) =>
    `The complaint was closed${withdrawn ? ', as it was withdrawn' : ''}: its record is kept until ${keep_until}.`,
  ComplaintFellOverdue: () => 'Eight weeks had passed without a decision.',
}
