import { z } from 'zod'
import { Cover, CoverType } from '../catalogue/record.ts'
import { CalendarDate, CoverId, Pence } from '../values.ts'

/** The parts of a quote that the rating makes. */

/** An addition to the price for health or pursuits, as shown to the customer. */
export const Loading = z.object({
  code: z.string(),
  label: z.string(),
  basis: z.enum(['percent', 'per_mille']),
  /** A percentage (`50`), or pounds a year for each £1,000 of cover (`1.50`). */
  value: z.string(),
})
export type Loading = z.infer<typeof Loading>

export const ExcludedCover = z.object({
  cover_id: CoverId,
  cover_type: CoverType,
  reason: z.enum(['age', 'amount', 'term', 'expiry_age', 'declined', 'not_selected']),
  message: z.string(),
})
export type ExcludedCover = z.infer<typeof ExcludedCover>

export const QuoteComponent = z.object({
  cover_id: CoverId,
  cover_index: Cover.shape.cover_index,
  cover_type: CoverType,
  title: Cover.shape.title,
  pricing_basis: Cover.shape.pricing_basis,
  benefit_basis: Cover.shape.benefit_basis,
  cover_amount_pence: Pence.nullable(),
  monthly_benefit_pence: Pence.nullable(),
  term_years: z.int().nullable(),
  expires_on: CalendarDate.nullable(),
  /** Without the policy fee. */
  premium_pence: Pence,
  premium_basis: Cover.shape.premium_basis,
  review_period_years: Cover.shape.review_period_years,
  indexation_method: Cover.shape.indexation_method,
  ci_payout_basis: Cover.shape.ci_payout_basis,
  members: z.int().nullable(),
  member_premium_pence: Pence.nullable(),
  minimum_premium_applied: z.boolean(),
  loading_percent: z.int(),
})
export type QuoteComponent = z.infer<typeof QuoteComponent>

/** Which published table a price came from. */
export const RateTableUsed = z.object({ key: z.string(), version: z.int() })
export type RateTableUsed = z.infer<typeof RateTableUsed>
