import { z } from 'zod'
import { Pence } from '../values.ts'

export const MarketResult = z.object({
  ordinal: z.int(),
  result_id: z.uuid(),
  provider_name: z.string(),
  logo_url: z.string().nullable(),
  product_name: z.string(),
  premium_pence: Pence,
  /** For display, in the product's currency. */
  premium_monthly: z.string(),
  plan_fee_pence: Pence.nullable(),
  status: z.enum(['success', 'referred', 'declined', 'unavailable', 'error', 'timeout']),
  status_reason: z.string().nullable(),
  variations: z.array(z.unknown()),
  features: z.array(z.unknown()),
  evidence_required: z.boolean(),
  further_underwriting: z.boolean(),
  standard_or_underwritten: z.string().nullable(),
  expiry_date: z.iso.date(),
  selected: z.boolean(),
})

/** The latest market search of an application for a whole-of-market product. */
export const MarketQuotes = z
  .object({
    request_id: z.uuid(),
    status: z.enum(['pending', 'fetching', 'completed', 'failed']),
    fetched_at: z.iso.datetime().nullable(),
    expires_at: z.iso.datetime().nullable(),
    stale: z.boolean(),
    provider_count: z.int(),
    failure_code: z.string().nullable(),
    selected_result_id: z.uuid().nullable(),
    results: z.array(MarketResult),
  })
  .meta({ id: 'MarketQuotes' })
export type MarketQuotes = z.infer<typeof MarketQuotes>
