import { organisationOf } from '#domain/event.ts'
import { programmesOf, type Programme } from '#domain/loyalty/record.ts'
import { policyEvents } from '#domain/policies/events.ts'
import { OrganisationId } from '#domain/values.ts'
import { productIdOf } from '../catalogue/ids.ts'
import type { Reaction } from '../reactions/reaction.ts'
import { membershipIdOf } from './ids.ts'
import type { Memberships } from './memberships.ts'

const { PolicyBound } = policyEvents

/** A policy makes a member of every programme that names its product. A repeated enrolment changes nothing by itself. */
export const whenPolicyBoundEnrolMember = (
  { handle }: Pick<Memberships, 'handle'>,
  programmes: ReadonlyMap<string, Programme>,
): Reaction<{ PolicyBound: typeof PolicyBound }> => ({
  name: 'when-policy-bound-enrol-member',
  categories: ['policy'],
  events: { PolicyBound },
  react: async ({ product_id, policy_id, policy_number, customer_id }, recorded, context) => {
    const organisation_id = OrganisationId.parse(organisationOf(recorded))
    const linked = programmesOf(programmes, organisation_id).filter(({ products }) =>
      products.some((slug) => productIdOf(organisation_id, slug) === product_id),
    )
    for (const { id: programme_id } of linked) {
      const membership_id = membershipIdOf(organisation_id, programme_id, policy_number)
      const member = { membership_id, organisation_id, programme_id, customer_id, policy_id, policy_number }
      await handle(membership_id, { type: 'Enrol', ...member }, context)
    }
  },
})
