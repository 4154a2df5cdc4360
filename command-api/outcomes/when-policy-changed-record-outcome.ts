import { idOf } from '#domain/event.ts'
import type { OutcomeModel, OutcomeType, Report } from '#domain/outcomes/events.ts'
import { outcomes } from '#domain/outcomes/outcomes.ts'
import type { OutcomeModels } from '#domain/outcomes/record.ts'
import { policyEvents } from '#domain/policies/events.ts'
import type { PolicyRecord } from '#domain/policies/record.ts'
import { Rejection } from '#domain/rejection.ts'
import { OrganisationId, type ProductId, type ReleaseId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'
import { commandHandler, type Context, type Writer } from '../writing/handle.ts'
import type { Reaction } from '../reactions/reaction.ts'

const { PolicyBound, PolicyCancelled } = policyEvents
const followed = { PolicyBound, PolicyCancelled }

type Deps = {
  readonly writer: Writer
  readonly models: OutcomeModels
  readonly policyOf: (policy_id: string) => Promise<PolicyRecord | undefined>
  readonly slugOf: (
    organisation_id: OrganisationId,
    product_id: ProductId,
    release_id: ReleaseId,
  ) => Promise<string | undefined>
}

/** The type of a sale: `sold`, or else the first by which a lead is won. */
const typeOfSale = ({ types }: OutcomeModel): OutcomeType | undefined =>
  types.find(({ key, effect }) => key === 'sold' && effect === 'won') ?? types.find(({ effect }) => effect === 'won')

const typeOfCancellation = ({ types }: OutcomeModel): OutcomeType | undefined =>
  types.find(({ key, effect }) => key === 'cancelled' && effect === 'cancel_sale') ??
  types.find(({ effect }) => effect === 'cancel_sale')

/** The values of a sale that the policy knows. */
const valuesOf = (policy: PolicyRecord, { values }: OutcomeType): Report['values'] => {
  const known: Readonly<Record<string, number | null>> = {
    premium: policy.premium_pence,
    annual_premium: policy.annual_premium_pence,
    cover_amount: policy.cover_amount_pence,
    policies: 1,
  }
  const found = values.flatMap(({ key, formula }) => {
    const value = formula ? null : (known[key] ?? null)
    return value === null ? [] : [[key, value] as const]
  })
  return Object.fromEntries(found)
}

/**
 * A policy that is sold here is an outcome of its person, whether they are a lead or not, and its number is the deal; when
 * it is cancelled, so is the deal. Each is recorded once, since its id follows from the policy's.
 */
export const whenPolicyChangedRecordOutcome = ({
  writer,
  models,
  policyOf,
  slugOf,
}: Deps): Reaction<typeof followed> => {
  const { handle } = commandHandler(writer, outcomes)

  const record = async (
    policy: PolicyRecord,
    outcome_type: OutcomeType,
    model: OutcomeModel,
    told: Pick<Report, 'product' | 'reason' | 'values'> & { readonly outcome_id: string },
    context: Context,
  ) => {
    const { outcome_id, ...said } = told
    const contact_id = policy.customer.id
    await handle(
      contact_id,
      {
        type: 'RecordOutcome',
        organisation_id: policy.organisation_id,
        outcome_id,
        contact_id,
        api_application_id: null,
        source: 'policy',
        event_id: null,
        by: { type: 'system', name: null },
        // Whoever sent the person is told when it is recorded.
        seen_by: [],
        outcome_type,
        model,
        report: {
          type: outcome_type.key,
          occurred_at: context.now,
          deal_ref: policy.policy_number,
          note: null,
          currency: policy.currency_code,
          ...said,
        },
      },
      context,
    )
  }

  return {
    name: 'when-policy-changed-record-outcome',
    categories: ['policy'],
    events: followed,
    react: async (event, { stream }, context) => {
      const policy = await policyOf(idOf(stream))
      if (!policy) return
      const organisation_id = OrganisationId.parse(context.organisation_id)
      const model = models(organisation_id)
      const isSale = event.type === 'PolicyBound'
      const type = isSale ? typeOfSale(model) : typeOfCancellation(model)
      if (!type) return
      const slug = await slugOf(organisation_id, policy.product_id, policy.product_release_id)
      const outcome_id = derivedId(isSale ? 'policy_outcome' : 'policy_cancellation', organisation_id, policy.id)
      const told = {
        outcome_id,
        product: type.product === 'none' ? null : (slug ?? null),
        reason: isSale ? null : event.reason,
        values: isSale ? valuesOf(policy, type) : {},
      }
      try {
        await record(policy, type, model, told, context)
      } catch (error) {
        // The firm has reported the same of this deal itself.
        if (!(error instanceof Rejection && error.code === 'not_repeatable')) throw error
      }
    },
  }
}
