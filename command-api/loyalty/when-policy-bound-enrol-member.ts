import { organisationOf } from '#domain/event.ts'
import { programmesOf, type Programme } from '#domain/loyalty/record.ts'
import { policyEvents } from '#domain/policies/events.ts'
import { OrganisationId, type ProductId } from '#domain/values.ts'
import { productIdOf } from '../catalogue/ids.ts'
import type { Reaction } from '../reaction.ts'
import { membershipIdOf } from './ids.ts'
import type { Memberships } from './memberships.ts'

const { PolicyBound } = policyEvents

type Sold = { readonly product_id: ProductId; readonly policy_number: string }

/** A policy of a product that a programme names makes a member; of several programmes, of the first by slug. */
export const whenPolicyBoundEnrolMember = (
  { handle }: Pick<Memberships, 'handle'>,
  programmes: ReadonlyMap<string, Programme>,
): Reaction<{ PolicyBound: typeof PolicyBound }> => {
  const programmeFor = (organisation_id: OrganisationId, product_id: ProductId) =>
    programmesOf(programmes, organisation_id).find(({ products }) =>
      products.some((slug) => productIdOf(organisation_id, slug) === product_id),
    )
  const membershipFor = (organisation_id: OrganisationId, { product_id, policy_number }: Sold) => {
    const programme = programmeFor(organisation_id, product_id)
    return programme && { programme, membership_id: membershipIdOf(organisation_id, programme.id, policy_number) }
  }

  return {
    name: 'when-policy-bound-enrol-member',
    categories: ['policy'],
    events: { PolicyBound },
    target: (event, recorded) => {
      const organisation_id = OrganisationId.parse(organisationOf(recorded))
      return `membership-${membershipFor(organisation_id, event)?.membership_id ?? event.policy_id}`
    },
    react: async (event, recorded, context) => {
      const organisation_id = OrganisationId.parse(organisationOf(recorded))
      const found = membershipFor(organisation_id, event)
      if (!found) return
      const { policy_id, policy_number, customer_id } = event
      const { membership_id, programme } = found
      const member = {
        membership_id,
        organisation_id,
        programme_id: programme.id,
        customer_id,
        policy_id,
        policy_number,
      }
      await handle(membership_id, { type: 'Enrol', ...member }, context)
    },
  }
}
