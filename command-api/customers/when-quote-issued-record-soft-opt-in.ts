import { idOf } from '#domain/event.ts'
import { quoteEvents } from '#domain/quotes/events.ts'
import { ApplicationId, type CustomerId } from '#domain/values.ts'
import type { Reaction } from '../reaction.ts'
import { recordAnswers, type Answered } from './consent.ts'
import type { makePeople } from './people.ts'

const { QuoteIssued } = quoteEvents

type Deps = {
  readonly people: Pick<ReturnType<typeof makePeople>, 'handle'>
  readonly customerOf: (application_id: string) => Promise<CustomerId | undefined>
  readonly answersOf: (application_id: ApplicationId) => Promise<readonly Answered[]>
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
  target: (_event, { stream }) => stream,
  react: async (_event, { stream }, context) => {
    const application_id = ApplicationId.parse(idOf(stream))
    const customer_id = await customerOf(application_id)
    if (customer_id) await recordAnswers(people, customer_id, application_id, await answersOf(application_id), context)
  },
})
