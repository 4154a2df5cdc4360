import { idOf, type RecordedEvent } from '#domain/event.ts'
import { quoteEvents } from '#domain/quotes/events.ts'
import { ApplicationId, type CustomerId } from '#domain/values.ts'
import type { Reaction } from '../reactions/reaction.ts'
import { recordAnswers, type Answered } from './consent.ts'
import type { makePeople } from './people.ts'

const { QuoteIssued } = quoteEvents

type Deps = {
  readonly people: Pick<ReturnType<typeof makePeople>, 'handle'>
  /** The first person of the application that an event is about, as of the event at least. */
  readonly customerOf: (recorded: RecordedEvent) => Promise<CustomerId | undefined>
  readonly answersOf: (recorded: RecordedEvent) => Promise<readonly Answered[]>
}

/**
 * A customer who was quoted, and left the opt-out boxes alone, may be written to about similar products. Of a person whose
 * own record is not made yet, the reaction that makes it takes care.
 */
export const whenQuoteIssuedRecordSoftOptIn = ({
  people,
  customerOf,
  answersOf,
}: Deps): Reaction<{ QuoteIssued: typeof QuoteIssued }> => ({
  name: 'when-quote-issued-record-soft-opt-in',
  categories: ['application'],
  events: { QuoteIssued },
  react: async (_event, recorded, context) => {
    const customer_id = await customerOf(recorded)
    if (!customer_id) return
    const application_id = ApplicationId.parse(idOf(recorded.stream))
    await recordAnswers(people, customer_id, application_id, await answersOf(recorded), context)
  },
})
