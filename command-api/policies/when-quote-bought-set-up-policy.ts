import { idOf } from '#domain/event.ts'
import { quoteEvents } from '#domain/quotes/events.ts'
import { ApplicationId } from '#domain/values.ts'
import type { Reaction } from '../reactions/reaction.ts'
import type { SetUp } from './set-up.ts'

const { QuoteBought } = quoteEvents

export const setUpName = 'when-quote-bought-set-up-policy'

/** The sale was decided on the application's stream: the policy follows, also when whoever asked for it is gone. */
export const whenQuoteBoughtSetUpPolicy = (setUp: SetUp): Reaction<{ QuoteBought: typeof QuoteBought }> => ({
  name: setUpName,
  categories: ['application'],
  events: { QuoteBought },
  target: ({ policy_id }) => `policy-${policy_id}`,
  react: async ({ quote_id }, { stream }, context) => {
    const done = await setUp(ApplicationId.parse(idOf(stream)), quote_id, context)
    if (!done) throw new Error(`The sale of quote ${quote_id} cannot be read yet.`)
  },
})
