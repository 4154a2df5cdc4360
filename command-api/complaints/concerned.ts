import type { ApplicationRecord } from '#domain/applications/record.ts'
import type { ClaimId } from '#domain/claims/events.ts'
import type { Claim } from '#domain/claims/record.ts'
import type { Customer } from '#domain/customers/record.ts'
import type { PolicyRecord } from '#domain/policies/record.ts'
import { Rejection } from '#domain/rejection.ts'
import type { ApplicationId, CustomerId, OrganisationId, PolicyId, ProductId } from '#domain/values.ts'

export type Concerned = {
  readonly people: {
    readonly record: (organisation_id: OrganisationId, id: CustomerId) => Promise<Customer | undefined>
    readonly isErased: (id: CustomerId) => Promise<boolean>
  }
  readonly policyOf: (id: PolicyId) => Promise<(PolicyRecord & { readonly claims: readonly Claim[] }) | undefined>
  readonly applicationOf: (id: ApplicationId) => Promise<ApplicationRecord | undefined>
}

type Named = {
  readonly organisation_id: OrganisationId
  readonly contact_id: CustomerId
  readonly policy_id: PolicyId | null
  readonly application_id: ApplicationId | null
  readonly claim_id: ClaimId | null
}

const invalid = (field: string, reason: string) =>
  new Rejection('validation_failed', `Correct ${field} and send the request again.`, { [field]: reason })

type OfPeople =
  Pick<PolicyRecord, 'customer' | 'joint_customer'> | Pick<ApplicationRecord, 'customer' | 'joint_customer'>

/** The complaint is sealed under the key of its person: nobody else's policy may be told of in it. */
const requirePerson = (field: string, { customer, joint_customer }: OfPeople, contact_id: CustomerId): void => {
  if (customer?.id !== contact_id && joint_customer?.id !== contact_id)
    throw invalid(field, 'is not of the person whom contact_id names')
}

/**
 * The product that a complaint concerns, where it concerns a policy or an application. Throws `validation_failed` for a person,
 * policy, claim or application that the organisation does not have.
 */
export const productConcerned = async (
  { people, policyOf, applicationOf }: Concerned,
  { organisation_id, contact_id, policy_id, application_id, claim_id }: Named,
): Promise<ProductId | null> => {
  const person = await people.record(organisation_id, contact_id)
  if (!person || (await people.isErased(contact_id)))
    throw invalid('contact_id', 'is nobody whom the organisation knows')
  if (claim_id !== null && policy_id === null) throw invalid('policy_id', 'is required with claim_id')
  if (policy_id !== null) {
    if (application_id !== null) throw invalid('application_id', 'must be left out with policy_id, which has one')
    const policy = await policyOf(policy_id)
    if (policy?.organisation_id !== organisation_id) throw invalid('policy_id', 'is no policy of the organisation')
    requirePerson('policy_id', policy, contact_id)
    if (claim_id !== null && !policy.claims.some((claim) => claim.claim_id === claim_id))
      throw invalid('claim_id', 'is no claim on this policy')
    return policy.product_id
  }
  if (application_id === null) return null
  const application = await applicationOf(application_id)
  if (application?.organisation_id !== organisation_id)
    throw invalid('application_id', 'is no application of the organisation')
  requirePerson('application_id', application, contact_id)
  return application.product_id
}
