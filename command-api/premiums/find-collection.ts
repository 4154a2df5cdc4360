import type { PolicyState } from '#domain/policies/state.ts'
import type { Premium } from '#domain/premiums/record.ts'
import type { Outcome, Provider, ProviderPayment } from '#infra/stripe/provider.ts'
import { isUnknown } from '../payments/provider-answers.ts'

/** The metadata by which the provider knows the premium of a payment, and the attempt. */
export const metadataOf = ({ id, organisation_id }: PolicyState, { premium_id, attempt }: Premium) => ({
  organisation_id,
  policy_id: id,
  premium_id,
  attempt: String(attempt),
})

/** The payment collected for this attempt, under whichever mandate; null: none. */
export const findCollection = async (
  provider: Provider,
  state: PolicyState,
  premium: Premium,
): Promise<Outcome<ProviderPayment | null>> => {
  const metadata = metadataOf(state, premium)
  for (const provider_customer_id of state.provider_customers) {
    const found = await provider.findCollection(provider_customer_id, metadata)
    // A former payer whom the provider no longer knows would keep every premium from being asked for, for ever.
    const isGone = isUnknown(found)
    if (isGone && provider_customer_id !== state.provider_mandate?.provider_customer_id) continue
    if (found.outcome !== 'done' || found.value) return found
  }
  return { outcome: 'done', value: null }
}
