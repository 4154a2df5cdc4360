import { z } from 'zod'
import { recordsFold } from '../records-fold.ts'
import { CustomerId, type OrganisationId } from '../values.ts'
import {
  Measure,
  OutcomeProduct,
  OutcomeSource,
  outcomeModelEvents,
  type OutcomeEvent,
  type OutcomeModel,
} from './events.ts'

/** An outcome as the specification shows it. */
export const Outcome = z
  .object({
    id: z.uuid(),
    event_id: z.string().nullable().describe('The sender’s own id for it.'),
    type: z.string(),
    contact_id: CustomerId,
    occurred_at: z.iso.datetime(),
    source: OutcomeSource,
    deal_ref: z.string().nullable(),
    product: z.string().nullable(),
    values: z
      .record(z.string(), z.number())
      .describe('Money in whole pence, percent as percentage, count as whole number.'),
    missing_values: z.array(z.string()).describe('Required values that are not there yet.'),
    currency: z.string().nullable(),
    reversed: z.boolean(),
    reversal_of: z.uuid().nullable(),
  })
  .meta({ id: 'Outcome' })
export type Outcome = z.infer<typeof Outcome>

/** The outcome that an event adds. */
export const outcomeOf = (event: Exclude<OutcomeEvent, { type: 'OutcomesShown' }>): Outcome => ({
  id: event.outcome_id,
  event_id: event.event_id,
  type: event.outcome_type,
  contact_id: event.contact_id,
  occurred_at: event.happened_at,
  source: event.source,
  deal_ref: event.deal_ref,
  product: event.product,
  values: event.values,
  missing_values: event.missing_values,
  currency: event.currency,
  reversed: false,
  reversal_of: event.type === 'OutcomeReversed' ? event.reversal_of : null,
})

/** The outcome model as the specification shows it. */
export const ShownModel = z
  .object({
    types: z.array(
      z.object({
        key: z.string().describe('What to send as type.'),
        label: z.string(),
        repeatable: z.boolean(),
        product: z.enum(['none', 'optional', 'required']),
        values: z.array(
          z.object({
            key: z.string(),
            required: z.boolean(),
            calculated: z.boolean().describe('Worked out by the service; need not be sent.'),
          }),
        ),
      }),
    ),
    measures: z.array(Measure),
    products: z.array(OutcomeProduct),
  })
  .meta({ id: 'OutcomeModel' })

export const shownModel = ({ types, measures, products }: OutcomeModel): z.infer<typeof ShownModel> => ({
  types: types.map(({ key, label, repeatable, product, values }) => ({
    key,
    label,
    repeatable,
    product,
    values: values.map(({ key: value, required, formula }) => ({ key: value, required, calculated: formula !== null })),
  })),
  measures,
  products,
})

const sent = (key: string, required: boolean) => ({ key, required, formula: null })

/** The model of an organisation that declared none. */
export const seededModel: OutcomeModel = {
  types: [
    {
      key: 'quoted',
      label: 'Quoted',
      repeatable: true,
      product: 'optional',
      values: [sent('premium', true), sent('cover_amount', false)],
      effect: 'stage',
      stage: 'quoted',
    },
    {
      key: 'sold',
      label: 'Sold',
      repeatable: true,
      product: 'required',
      values: [
        sent('premium', true),
        sent('commission', true),
        sent('commission_rate', false),
        sent('cover_amount', false),
        sent('policies', false),
        {
          key: 'annual_premium',
          required: false,
          formula: { operation: 'product', of: [{ value: 'premium' }, { constant: '12' }] },
        },
      ],
      effect: 'won',
      stage: null,
    },
    {
      key: 'cancelled',
      label: 'Cancelled',
      repeatable: false,
      product: 'optional',
      values: [sent('clawback', false)],
      effect: 'cancel_sale',
      stage: null,
    },
    {
      key: 'commission_paid',
      label: 'Commission paid',
      repeatable: true,
      product: 'optional',
      values: [sent('commission', true), sent('commission_rate', false)],
      effect: 'none',
      stage: null,
    },
    { key: 'lost', label: 'Lost', repeatable: true, product: 'none', values: [], effect: 'lost', stage: null },
  ],
  measures: [
    { key: 'premium', label: 'Monthly premium', unit: 'money' },
    { key: 'annual_premium', label: 'Annual premium', unit: 'money' },
    { key: 'commission', label: 'Commission', unit: 'money' },
    { key: 'clawback', label: 'Clawback', unit: 'money' },
    { key: 'cover_amount', label: 'Cover amount', unit: 'money' },
    { key: 'commission_rate', label: 'Commission rate', unit: 'percent' },
    { key: 'policies', label: 'Policies', unit: 'count' },
  ],
  products: [],
}

/** The declared models, for a process that keeps them in memory. */
export const outcomeModelsFold = recordsFold({
  name: 'outcome models',
  version: 1,
  categories: ['outcome_model'],
  events: outcomeModelEvents,
  evolve: (_former: OutcomeModel | undefined, { model }) => model,
})

/** The outcome model of an organisation. */
export type OutcomeModels = (organisation_id: OrganisationId) => OutcomeModel

export const outcomeModelsOf =
  (declared: ReadonlyMap<string, OutcomeModel>): OutcomeModels =>
  (organisation_id) =>
    declared.get(organisation_id) ?? seededModel
