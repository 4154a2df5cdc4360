import { lifecycle } from '#domain/workflows/events.ts'
import { subjectKind } from '../capability.ts'
import { peopleShown, readDocuments } from '../snapshot.ts'
import { readApplications } from './applications.ts'
import { policies } from './policies.ts'
import { quotes } from './quotes.ts'

const { events: sent, names } = lifecycle.mandate

type Facts = {
  readonly product_id: string | null
  readonly quote_id: string
  readonly provider_mandate_id: string | null
}
type Stored = { readonly quote_id: string }

/** Direct Debit mandates, with the policy once there is one, and with the quote before. */
export const mandates = subjectKind<typeof sent, Facts>({
  type: 'mandate',
  categories: ['application'],
  events: sent,
  readModels: ['applications', 'payments', 'policies', 'quotes'],
  idOf: ({ mandate_id }) => mandate_id,
  remember: (facts, event) => {
    if (event.type !== 'MandateCreated') return facts
    const { product_id, quote_id, provider_mandate_id } = event
    return { product_id, quote_id, provider_mandate_id }
  },
  people: peopleShown,
  happening: (event, { quote_id, provider_mandate_id }) => ({
    type: names[event.type],
    payload: {
      mandate_id: provider_mandate_id,
      quote_id,
      ...(event.type === 'MandateCancelled' && { reason: event.end }),
    },
  }),
  readSnapshots: async (pool, subjects) => {
    const mandateOf = await readDocuments<Stored>(pool, 'payments', subjects)
    const itsQuotes = subjects.flatMap(({ organisation_id, id, event_id }) => {
      const quote_id = mandateOf(id)?.quote_id
      return quote_id === undefined ? [] : [{ organisation_id, id: quote_id, event_id }]
    })
    const quoteOf = await readDocuments<{ readonly application_id: string }>(pool, 'quotes', itsQuotes)
    const itsApplications = itsQuotes.flatMap(({ organisation_id, id }) => {
      const application_id = quoteOf(id)?.application_id
      return application_id === undefined ? [] : [{ organisation_id, id: application_id }]
    })
    const applicationOf = await readApplications(pool, itsApplications)
    const policyIdOf = (quote_id: string): string | null =>
      applicationOf(quoteOf(quote_id)?.application_id ?? '')?.policy_id ?? null
    const itsPolicies = itsQuotes.flatMap(({ organisation_id, id, event_id }) => {
      const policy_id = policyIdOf(id)
      return policy_id === null ? [] : [{ organisation_id, id: policy_id, event_id }]
    })
    const [quoteSnapshots, policySnapshots] = await Promise.all([
      quotes.readSnapshots(pool, itsQuotes),
      policies.readSnapshots(pool, itsPolicies),
    ])
    return (id, now, event_id) => {
      const quote_id = mandateOf(id)?.quote_id
      if (quote_id === undefined) return undefined
      const policy_id = policyIdOf(quote_id)
      const policy = policy_id === null ? undefined : policySnapshots(policy_id, now, event_id)
      return policy ?? quoteSnapshots(quote_id, now, event_id)
    }
  },
})
