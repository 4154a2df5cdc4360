import { z } from 'zod'
import { CalendarDate } from '#domain/values.ts'
import { askJson, type OpenedAccount } from '../ask-json.ts'
import type { GuardedHttp } from '../guarded-http.ts'

/** It stands in the address that the search is read at. */
const SearchId = z
  .string()
  .min(1)
  .max(200)
  .refine((id) => id.isWellFormed(), 'must be valid Unicode')

const Accepted = z.object({ search_id: SearchId, provider_count: z.int().min(0).default(0) })

const text = z.string().max(500)

/** A provider's answer, as the panel gives it. A result that cannot be read is left out, and the others stand. */
const PanelResult = z.object({
  provider_id: text.min(1),
  provider_name: text,
  logo_url: z
    .url({ protocol: /^https?$/ })
    .max(2000)
    .nullish()
    .catch(null),
  product_name: text.default(''),
  status: z.enum(['success', 'referred', 'declined', 'unavailable', 'error', 'timeout']).catch('error'),
  status_reason: text.nullish(),
  premium_pence: z.int().min(0).nullish(),
  plan_fee_pence: z.int().min(0).nullish(),
  decision: z.enum(['buy_now', 'buy_now_non_standard', 'refer', 'decline']).nullish().catch(null),
  evidence_required: z.boolean().default(false),
  further_underwriting: z.boolean().default(false),
  variations: z.array(z.unknown()).max(50).default([]),
  features: z.array(z.unknown()).max(50).default([]),
  expiry_date: CalendarDate.nullish(),
})
export type PanelResult = z.output<typeof PanelResult>

const Search = z.object({ status: z.string(), results: z.array(z.unknown()).max(200) })

export type PanelSearch = { readonly isFinished: boolean; readonly results: readonly PanelResult[] }

/** A panel of providers. Undefined: it could not be reached, or did not understand. */
export type MarketPanel = {
  /** The same `request_id` again finds the search that it began. */
  readonly begin: (
    account: OpenedAccount,
    request_id: string,
    search: object,
  ) => Promise<{ readonly search_id: string; readonly provider_count: number } | undefined>
  readonly read: (account: OpenedAccount, search_id: string) => Promise<PanelSearch | undefined>
}

/** Speaks `POST /searches` and `GET /searches/{id}`; see docs/market-panel.md. */
export const marketPanel = (http: Pick<GuardedHttp, 'request'>): MarketPanel => ({
  begin: async ({ base_url, secret }, request_id, search) => {
    const answer = await askJson(http, {
      method: 'POST',
      url: `${base_url}/searches`,
      headers: {
        authorization: `Bearer ${secret}`,
        'content-type': 'application/json',
        'idempotency-key': request_id,
      },
      body: JSON.stringify({ request_id, ...search }),
    })
    return answer?.status === 202 || answer?.status === 200 ? Accepted.safeParse(answer.body).data : undefined
  },

  read: async ({ base_url, secret }, search_id) => {
    const answer = await askJson(http, {
      method: 'GET',
      url: `${base_url}/searches/${encodeURIComponent(search_id)}`,
      headers: { authorization: `Bearer ${secret}` },
    })
    const search = answer?.status === 200 ? Search.safeParse(answer.body).data : undefined
    return (
      search && {
        isFinished: search.status === 'completed',
        results: search.results.flatMap((result) => PanelResult.safeParse(result).data ?? []),
      }
    )
  },
})
