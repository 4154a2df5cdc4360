import type { Mandate } from '#domain/payments/record.ts'
import type { PolicyRecord } from '#domain/policies/record.ts'
import { lifecycle } from '#domain/workflows/events.ts'
import { subjectKind } from '../capability.ts'
import { peopleShown, readDocuments } from '../sending/snapshot.ts'
import { readApplications } from './applications.ts'
import { policySnapshot } from './policies.ts'
import { quotes } from './quotes.ts'

const { events: sent, names } = lifecycle.mandate

type Facts = {
  readonly product_id: string | null
  readonly quote_id: string
  readonly provider_mandate_id: string | null
}

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
    const mandateOf = await readDocuments<Mandate>(pool, 'payments', subjects)
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
    const itsPolicies = itsQuotes.flatMap(({ organisation_id, id }) => {
      const policy_id = policyIdOf(id)
      return policy_id === null ? [] : [{ organisation_id, id: policy_id }]
    })
    const [quoteSnapshots, policyOf] = await Promise.all([
      quotes.readSnapshots(pool, itsQuotes),
      readDocuments<PolicyRecord>(pool, 'policies', itsPolicies),
    ])
    return (id, now, event_id) => {
      const mandate = mandateOf(id)
      if (!mandate) return undefined
      const policy = policyOf(policyIdOf(mandate.quote_id) ?? '')
      return policy ? policySnapshot(withNewsOf(mandate, policy)) : quoteSnapshots(mandate.quote_id, now, event_id)
    }
  },
})

/** A bank's answer about a mandate is recorded with it first, and with its policy a moment later. */
const withNewsOf = ({ mandate_id, status }: Mandate, policy: PolicyRecord): PolicyRecord => {
  const isNewer = policy.payment_method.mandate_id === mandate_id && status !== 'pending'
  return isNewer ? { ...policy, payment_method: { ...policy.payment_method, mandate_status: status } } : policy
}
