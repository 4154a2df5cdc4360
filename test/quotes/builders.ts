import { application } from '#domain/applications/application.ts'
import type { QuoteApplication } from '#domain/applications/quote.ts'
import type { ApplicationStreamEvent } from '#domain/applications/record.ts'
import type { Release, ReleaseJourney } from '#domain/catalogue/events.ts'
import { QuoteId } from '#domain/values.ts'
import { anna, answered, covered, customerSaved, started } from '../applications/builders.ts'
import { fullJourney, lifeCover, release } from '../applications/release.ts'
import { tables } from '../rating/request.ts'
import { stateOf } from '../scenario.ts'

/** What the tests of quotes have in common: an application of which everything is known, quoted on 1 June 2026. */

export const now = '2026-06-01T09:00:00.000Z'
export const firstId = QuoteId.parse('d0000000-0000-4000-8000-000000000001')
export const secondId = QuoteId.parse('d0000000-0000-4000-8000-000000000002')

export const termRelease: Release = {
  ...release,
  product_type: 'term',
  covers: [lifeCover],
  rate_tables: { 'life.level': 3 },
}

export const journeyWith = (...required: string[]): ReleaseJourney => ({
  ...fullJourney,
  questions: fullJourney.questions.map((question) => ({ ...question, required: required.includes(question.key) })),
})

export const digest = (text: string) => `digest of ${text}`

export const quote = (changes: Partial<QuoteApplication> = {}): QuoteApplication => ({
  type: 'QuoteApplication',
  quote_id: firstId,
  start_date: null,
  now,
  today: '2026-06-01',
  release: termRelease,
  journey: journeyWith('smoker'),
  rate_tables: tables,
  digest,
  ...changes,
})

export const accept = (quote_id: QuoteId | null = null, at = now) =>
  ({ type: 'AcceptQuote', quote_id, now: at, digest }) as const

/** Thirty-four on 2 June 2026, and until 10 March 2027. */
export const born = { ...anna, dob: '1992-03-10' }

export const applied = (dob = born.dob, answers: Parameters<typeof answered>[0] = {}): ApplicationStreamEvent[] => [
  started(),
  customerSaved({ ...born, dob }),
  answered({ smoker: false, ...answers }),
  covered({ cover_amount_pence: 25_000_000, term_years: 25 }),
]

/** What a command leads to, of an application to which this has happened. */
export const decided = (
  given: readonly ApplicationStreamEvent[],
  command: Parameters<typeof application.decide>[0],
): readonly ApplicationStreamEvent[] => application.decide(command, stateOf(application, given, now))

/** The application with what a command leads to. */
export const after = (
  given: readonly ApplicationStreamEvent[],
  command: Parameters<typeof application.decide>[0],
): readonly ApplicationStreamEvent[] => [...given, ...decided(given, command)]

export const issuedQuote = (events: readonly ApplicationStreamEvent[]) => {
  const issued = events.findLast((event) => event.type === 'QuoteIssued')
  if (!issued) throw new Error('No quote was issued.')
  return issued
}
