import type { OutcomeModel, OutcomeType } from '#domain/outcomes/events.ts'
import { outcomes } from '#domain/outcomes/outcomes.ts'
import type { OutcomeModels } from '#domain/outcomes/record.ts'
import { policyEvents } from '#domain/policies/events.ts'
import { OrganisationId, type ProductId, type ReleaseId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'
import { commandHandler, type Writer } from '../handle.ts'
import type { Reaction } from '../reaction.ts'

const { PolicyBound } = policyEvents

type Deps = {
  readonly writer: Writer
  readonly models: OutcomeModels
  readonly slugOf: (
    organisation_id: OrganisationId,
    product_id: ProductId,
    release_id: ReleaseId,
  ) => Promise<string | undefined>
}

/** The type of a sale: `sold`, or else the first by which a lead is won. */
const typeOfSale = ({ types }: OutcomeModel): OutcomeType | undefined =>
  types.find(({ key, effect }) => key === 'sold' && effect === 'won') ?? types.find(({ effect }) => effect === 'won')

/**
 * A policy that is sold here is an outcome of its person, whether they are a lead or not; its number is the deal. It is
 * recorded once, since its id follows from the policy's.
 */
export const whenPolicyBoundRecordOutcome = ({
  writer,
  models,
  slugOf,
}: Deps): Reaction<{ PolicyBound: typeof PolicyBound }> => {
  const { handle } = commandHandler(writer, outcomes)

  return {
    name: 'when-policy-bound-record-outcome',
    categories: ['policy'],
    events: { PolicyBound },
    target: ({ customer_id }) => `${outcomes.category}-${customer_id}`,
    react: async (policy, _recorded, context) => {
      const organisation_id = OrganisationId.parse(context.organisation_id)
      const model = models(organisation_id)
      const outcome_type = typeOfSale(model)
      if (!outcome_type) return
      const slug = await slugOf(organisation_id, policy.product_id, policy.product_release_id)
      const known: Readonly<Record<string, number | null>> = {
        premium: policy.premium_pence,
        annual_premium: policy.annual_premium_pence,
        cover_amount: policy.cover_amount_pence,
        policies: 1,
      }
      const values = outcome_type.values.flatMap(({ key, formula }) => {
        const value = formula ? null : (known[key] ?? null)
        return value === null ? [] : [[key, value] as const]
      })
      await handle(
        policy.customer_id,
        {
          type: 'RecordOutcome',
          organisation_id,
          outcome_id: derivedId('policy_outcome', organisation_id, policy.policy_id),
          contact_id: policy.customer_id,
          api_application_id: null,
          source: 'policy',
          event_id: null,
          by: { type: 'system', name: null },
          outcome_type,
          model,
          report: {
            type: outcome_type.key,
            occurred_at: context.now,
            deal_ref: policy.policy_number,
            product: outcome_type.product === 'none' ? null : (slug ?? null),
            reason: null,
            note: null,
            currency: policy.currency_code,
            values: Object.fromEntries(values),
          },
        },
        context,
      )
    },
  }
}
